from __future__ import annotations

from tests.repomap.stack.told import Cases, make_test

CASES: Cases = {
    "a Laravel application": (
        {
            "composer.json": """
                {
                  "name": "acme/shop", "type": "project", "description": "A shop.",
                  "require": {"php": "^8.2", "laravel/framework": "^11.0", "acme/x": "*"},
                  "require-dev": {"laravel/pint": "^1.13", "phpunit/phpunit": "^11.0"},
                  "autoload": {"psr-4": {"App\\\\": "app/"}},
                  "scripts": {
                    "check": "@php vendor/bin/phpstan analyse",
                    "post-install-cmd": "@php artisan test",
                    "lint": ["pint --test"],
                    "setup": ["composer install", "npm run build"],
                    "odd": {"a": 1}
                  }
                }
            """,
            "artisan": "#!/usr/bin/env php\n",
            "phpunit.xml": "<phpunit/>",
            "public/index.php": "",
        },
        """
        language PHP ^8.2
        framework Laravel ^11.0
        manager Composer
        tool Pint ^1.13
        tool PHPUnit ^11.0
        install: composer setup
        install: composer install
        test: vendor/bin/phpunit
        test: php artisan test
        lint: composer lint
        lint: vendor/bin/pint --test
        lint: composer run check
        format: vendor/bin/pint
        run: php artisan serve
        web -> public/index.php
        artisan -> artisan
        package . acme/shop: A shop.
        """,
    ),
    "a library with a program": (
        {
            "composer.json": """
                {
                  "name": "acme/lib",
                  "require": {"php": ">=8.1"},
                  "bin": ["bin/lib", "../outside"],
                  "autoload": {"psr-4": {"Acme\\\\Lib\\\\": ["src/", "lib/"], "": "x"}}
                }
            """,
            "phpstan.neon": "",
        },
        """
        language PHP >=8.1
        manager Composer
        tool PHPStan
        install: composer install
        lint: vendor/bin/phpstan analyse
        lib -> bin/lib
        Acme\\Lib -> src
        package . acme/lib
        """,
    ),
    "values of any type": (
        {"composer.json": '{"require": [1], "scripts": 3, "autoload": "x", "bin": {}, "name": 1}'},
        """
        language PHP
        manager Composer
        install: composer install
        """,
    ),
    "no JSON": (
        {"composer.json": '{\n  "name": }\n', "phpunit.xml": ""},
        """
        tool PHPUnit
        test: vendor/bin/phpunit
        note composer.json: line 2: invalid JSON: a value is missing
        """,
    ),
}

test_composer_and_its_tools_are_read = make_test(CASES)
