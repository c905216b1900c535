from __future__ import annotations

from tests.repomap.stack.told import Cases, make_test

CASES: Cases = {
    "a flake": (
        {"flake.nix": "{ outputs = { self }: {\n devShells.x = 1;\n # packages = 2;\n}; }\n"},
        """
        tool Nix
        install: nix develop
        """,
    ),
    "Terraform": (
        {
            "main.tf": """
                terraform {
                  required_version = ">= 1.6"
                  required_providers {
                    aws = {
                      source  = "hashicorp/aws"
                      version = "~> 5.0"
                    }
                    odd = { source = "acme/odd" }
                  }
                }
                provider "google" {}
                # provider "helm" {}
            """
        },
        """
        tool Terraform >= 1.6
        tool AWS
        tool Google Cloud
        lint: terraform validate
        format: terraform fmt -recursive
        """,
    ),
    "a chart": (
        {
            "chart/Chart.yaml": "name: shop\ndescription: A shop.\n",
            "chart/charts/a/Chart.yaml": "x: 1\n",
        },
        """
        tool Helm
        lint: helm lint . in chart
        package chart shop: A shop.
        note chart/charts/a/Chart.yaml: this chart has no name
        """,
    ),
    "functions": (
        {
            "serverless.yml": """
                service: shop
                frameworkVersion: '3'
                provider:
                  name: aws
                functions:
                  buy:
                    handler: src/buy.handler
            """
        },
        """
        framework Serverless Framework 3
        tool AWS
        buy -> src/buy.handler
        package . shop
        """,
    ),
    "Ansible": ({"ansible.cfg": "[defaults]\n"}, "tool Ansible"),
}

test_infrastructure_is_read = make_test(CASES)
