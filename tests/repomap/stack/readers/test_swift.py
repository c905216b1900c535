from __future__ import annotations

from tests.repomap.stack.told import Cases, make_test

CASES: Cases = {
    "a package": (
        {
            "Package.swift": """// swift-tools-version:5.9
                import PackageDescription
                let package = Package(
                    name: "shop",
                    products: [.library(name: "Shop", targets: ["Shop"])],
                    dependencies: [
                        // .package(url: "https://github.com/x/GRDB.swift", from: "6.0.0"),
                        .package(url: "https://github.com/vapor/vapor.git", from: "4.99.0"),
                        .package(url: "https://x.org/apple/swift-nio", .upToNextMajor(from: "2.1")),
                        .package(path: "../other"),
                    ],
                    targets: [
                        .target(name: "Shop"),
                        .executableTarget(
                            name: "Server",
                            dependencies: [.product(name: "Vapor", package: "vapor")],
                            path: "Server"
                        ),
                        .executableTarget(name: "Demo", path: "Examples/Demo"),
                        .testTarget(name: "ShopTests", dependencies: ["Shop"], path: "T"),
                    ]
                )
            """,
            "Server/main.swift": "",
            ".swiftlint.yml": "",
            ".swift-format": "{}",
        },
        """
        language Swift 5.9
        framework Vapor 4.99.0
        framework SwiftNIO 2.1
        manager Swift Package Manager
        tool SwiftLint
        tool swift-format
        build: swift build
        test: swift test
        lint: swiftlint
        format: swift format -i -r .
        run: swift run
        Server -> Server/main.swift
        package . shop
        """,
    ),
    "CocoaPods": (
        {
            "Podfile": """
                platform :ios, '15.0'
                target 'App' do
                  pod 'Alamofire', '~> 5.9'
                  pod 'RxSwift/Core'
                end
            """,
            ".swiftformat": "",
        },
        """
        runtime iOS 15.0
        library Alamofire ~> 5.9
        library RxSwift
        manager CocoaPods
        tool SwiftFormat
        install: pod install
        format: swiftformat .
        """,
    ),
    "no package": ({"Package.swift": "let a = 1\n"}, "note Package.swift: this names no package"),
}

test_packages_and_pods_are_read = make_test(CASES)
