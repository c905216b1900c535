from __future__ import annotations

from tests.repomap.stack.told import Cases, make_test

CASES: Cases = {
    "Kotlin with a wrapper": (
        {
            "build.gradle.kts": """
                /* plugins { id("scala") } */
                plugins {
                    kotlin("jvm") version "2.0.0"
                    id("io.gitlab.arturbosch.detekt") version "1.23.6"
                    application // starts it
                }
                description = "A tool"
                kotlin { jvmToolchain(17) }
                dependencies {
                    implementation("io.ktor:ktor-server-core:2.3.11")
                    testImplementation(platform("org.junit.jupiter:junit-jupiter:$junit"))
                    // implementation("io.quarkus:quarkus-core:3")
                }
                application { mainClass.set("org.example.MainKt") }
            """,
            "settings.gradle.kts": 'rootProject.name = "tool"\n',
            "gradle/wrapper/gradle-wrapper.properties": (
                "distributionUrl=https\\://services.gradle.org/distributions/gradle-8.7-bin.zip\n"
            ),
            "gradlew": "",
            "src/main/kotlin/org/example/Main.kt": "",
        },
        """
        language Kotlin 2.0.0
        runtime JVM 17
        framework Ktor 2.3.11
        build Gradle 8.7
        tool detekt 1.23.6
        tool JUnit 5
        build: ./gradlew build
        test: ./gradlew test
        lint: ./gradlew detekt
        run: ./gradlew run
        MainKt -> src/main/kotlin/org/example/Main.kt
        package . tool
        """,
    ),
    "Groovy": (
        {
            "build.gradle": """
                plugins {
                    id 'java'
                    id 'org.springframework.boot' version '3.2.5'
                    id 'com.diffplug.spotless' version '6.25.0' apply false
                }
                sourceCompatibility = '1.8'
                implementation 'com.google.guava:guava:33.0-jre'
            """,
            "src/main/java/org/example/ShopApplication.java": "",
            "src/test/java/org/example/TestApplication.java": "",
        },
        """
        language Java 8
        framework Spring Boot 3.2.5
        library Guava 33.0-jre
        build Gradle
        tool Spotless 6.25.0
        build: gradle build
        test: gradle test
        run: gradle bootRun
        ShopApplication -> src/main/java/org/example/ShopApplication.java
        """,
    ),
    "an older build file": (
        {"build.gradle": "apply plugin: 'groovy'\nsourceCompatibility = JavaVersion.VERSION_11\n"},
        """
        language Groovy
        runtime JVM 11
        build Gradle
        build: gradle build
        test: gradle test
        """,
    ),
    "a build of parts, without a build file in the root": (
        {
            "settings.gradle": """
                rootProject.name = 'whole'
                includeBuild 'other'
                include ':app', ':libs:one'
                include(
                    "named",
                    "x:y"
                )
                'stray'
            """,
            "app/build.gradle": "plugins {\n  id 'application'\n}\n",
            "libs/one/build.gradle.kts": 'plugins {\n  `java-library`\n}\ndescription = "One"\n',
            "named/named.gradle": "",
        },
        """
        language Java
        build Gradle
        build: gradle build
        test: gradle test
        run: gradle :app:run
        package . whole
        package app app
        package named named
        package libs/one one: One
        package x/y y
        """,
    ),
    "a version catalog": (
        {
            "build.gradle.kts": "plugins {\n  alias(libs.plugins.android.application)\n}\n",
            "gradle/libs.versions.toml": """
                [versions]
                kotlin = "2.0.0"
                [plugins]
                jvm = { id = "org.jetbrains.kotlin.jvm", version.ref = "kotlin" }
                [libraries]
                ktor = { module = "io.ktor:ktor-client", version = "2.3.11" }
                guava = "com.google.guava:guava:33.0-jre"
                odd = 3
            """,
            "gradle.properties": "# kotlinVersion=1\nkotlinVersion=1.9.0\n",
        },
        """
        language Kotlin 1.9.0
        framework Android
        framework Ktor 2.3.11
        library Guava 33.0-jre
        build Gradle
        build: gradle build
        test: gradle test
        lint: gradle lint
        """,
    ),
    "a broken catalog": (
        {"gradle/libs.versions.toml": "[versions]\na = \n"},
        "note gradle/libs.versions.toml: line 2: this is not TOML: Invalid value",
    ),
}

test_gradle_is_read = make_test(CASES)
