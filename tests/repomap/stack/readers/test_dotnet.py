from __future__ import annotations

from tests.repomap.stack.told import Cases, make_test

SOLUTION = "Microsoft Visual Studio Solution File, Format Version 12.00\n"
CASES: Cases = {
    "a solution": (
        {
            "Shop.sln": SOLUTION
            + r'Project("{9A19103F}") = "Api", "src\Api\Api.csproj", "{1}"'
            + "\nEndProject\n"
            + 'Project("{2150E333}") = "docs", "docs", "{2}"\n',
            "src/Api/Api.csproj": """
                <Project Sdk="Microsoft.NET.Sdk.Web">
                  <PropertyGroup>
                    <TargetFramework>net8.0</TargetFramework>
                    <LangVersion>latest</LangVersion>
                    <Description>The API.</Description>
                  </PropertyGroup>
                  <ItemGroup>
                    <PackageReference Include="Serilog" Version="3.1.1" />
                    <PackageReference Include="Dapper"><Version>2.1.35</Version></PackageReference>
                  </ItemGroup>
                </Project>
            """,
            "src/Api/Program.cs": "",
            "global.json": '{"sdk": {"version": "8.0.100"}}',
        },
        """
        language C#
        runtime .NET 8.0
        framework ASP.NET Core
        library Serilog 3.1.1
        library Dapper 2.1.35
        tool .NET SDK 8.0.100
        build: dotnet build
        test: dotnet test
        lint: dotnet format --verify-no-changes
        format: dotnet format
        run: dotnet run in src/Api
        Api -> src/Api/Program.cs
        package src/Api Api: The API.
        """,
    ),
    "a library for several frameworks, in F#": (
        {
            "Lib.fsproj": """
                <Project xmlns="http://schemas.microsoft.com/developer/msbuild/2003">
                  <PropertyGroup>
                    <TargetFrameworks>netstandard2.0;net8.0-windows</TargetFrameworks>
                    <LangVersion>8.0</LangVersion>
                  </PropertyGroup>
                </Project>
            """
        },
        """
        language F# 8.0
        runtime .NET netstandard2.0, 8.0-windows
        build: dotnet build
        lint: dotnet format --verify-no-changes
        format: dotnet format
        package . Lib
        """,
    ),
    "tests are no program": (
        {
            "Tests.csproj": """
                <Project Sdk="Microsoft.NET.Sdk">
                  <PropertyGroup><OutputType>Exe</OutputType></PropertyGroup>
                  <ItemGroup>
                    <PackageReference Include="Microsoft.NET.Test.Sdk" />
                    <PackageReference Include="xunit" Version="$(XunitVersion)" />
                  </ItemGroup>
                </Project>
            """,
            "Directory.Packages.props": """
                <Project><ItemGroup>
                  <PackageVersion Include="xunit" Version="2.8.0" />
                </ItemGroup></Project>
            """,
        },
        """
        language C#
        tool xUnit 2.8.0
        build: dotnet build
        test: dotnet test
        lint: dotnet format --verify-no-changes
        format: dotnet format
        package . Tests
        """,
    ),
    "a solution as XML": (
        {"All.slnx": '<Solution><Project Path="a/A.csproj" /></Solution>'},
        """
        build: dotnet build
        test: dotnet test
        lint: dotnet format --verify-no-changes
        format: dotnet format
        """,
    ),
    "of several solutions, one is named": (
        {"All.sln": SOLUTION, "Part.sln": SOLUTION, "X.csproj": "<Project/>"},
        """
        language C#
        build: dotnet build All.sln
        test: dotnet test All.sln
        lint: dotnet format All.sln --verify-no-changes
        format: dotnet format All.sln
        package . X
        """,
    ),
    "broken files": (
        {"A.csproj": "<Project>", "B.sln": "x", "C.vbproj": "<x/>", "global.json": "[1]"},
        """
        note A.csproj: line 1: this is not XML: no element found
        note B.sln: not a Visual Studio solution
        note C.vbproj: not an MSBuild project
        """,
    ),
}

test_projects_and_solutions_are_read = make_test(CASES)
