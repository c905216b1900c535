from __future__ import annotations

from tests.repomap.stack.told import Cases, make_test

POM = '<project xmlns="http://maven.apache.org/POM/4.0.0">'
CASES: Cases = {
    "a parent with modules": (
        {
            "pom.xml": f"""<?xml version="1.0" encoding="UTF-16"?>
                <!-- shop -->
                {POM}
                  <parent>
                    <groupId>org.springframework.boot</groupId>
                    <artifactId>spring-boot-starter-parent</artifactId>
                    <version>3.2.5</version>
                  </parent>
                  <groupId>org.example</groupId>
                  <artifactId>shop</artifactId>
                  <description>A shop
                     with parts.</description>
                  <modules><module>api</module><module>../outside</module></modules>
                  <properties>
                    <jdk>21</jdk>
                    <java.version>${{jdk}}</java.version>
                    <junit.version>5.10.2</junit.version>
                  </properties>
                  <dependencyManagement><dependencies><dependency>
                    <groupId>org.junit.jupiter</groupId>
                    <artifactId>junit-jupiter</artifactId>
                    <version>${{junit.version}}</version>
                  </dependency></dependencies></dependencyManagement>
                  <build><plugins><plugin>
                    <artifactId>spotless-maven-plugin</artifactId>
                  </plugin></plugins></build>
                </project>
            """,
            "mvnw": "",
            "api/pom.xml": f"""
                {POM}
                  <parent><groupId>org.example</groupId></parent>
                  <artifactId>api</artifactId>
                  <dependencies><dependency>
                    <groupId>org.example</groupId><artifactId>core</artifactId>
                  </dependency></dependencies>
                  <build><plugins><plugin>
                    <artifactId>spring-boot-maven-plugin</artifactId>
                    <configuration><mainClass>org.example.Main</mainClass></configuration>
                  </plugin></plugins></build>
                </project>
            """,
            "api/src/main/java/org/example/Main.java": "",
            "api/src/main/kotlin/org/example/ApiApplication.kt": "",
        },
        """
        language Java 21
        framework Spring Boot 3.2.5
        build Maven
        tool JUnit 5 5.10.2
        tool Spotless
        build: ./mvnw package -DskipTests
        test: ./mvnw test
        lint: ./mvnw spotless:check
        format: ./mvnw spotless:apply
        run: mvn spring-boot:run in api
        Main -> api/src/main/java/org/example/Main.java
        ApiApplication -> api/src/main/kotlin/org/example/ApiApplication.kt
        package . shop: A shop with parts.
        package api api
        """,
    ),
    "Kotlin, and a class without a file": (
        {
            "pom.xml": """
                <project>
                  <artifactId>tool</artifactId>
                  <properties>
                    <kotlin.version>1.9.24</kotlin.version>
                    <exec.mainClass>org.example.AppKt</exec.mainClass>
                  </properties>
                  <build><plugins><plugin>
                    <artifactId>kotlin-maven-plugin</artifactId>
                    <version>${kotlin.version}</version>
                  </plugin></plugins></build>
                </project>
            """
        },
        """
        language Kotlin 1.9.24
        build Maven
        build: mvn package -DskipTests
        test: mvn test
        AppKt -> org.example.AppKt
        package . tool
        """,
    ),
    "the compiler's configuration": (
        {
            "pom.xml": """
                <project><build><pluginManagement><plugins><plugin>
                  <artifactId>maven-compiler-plugin</artifactId>
                  <configuration><release>17</release></configuration>
                </plugin></plugins></pluginManagement></build></project>
            """
        },
        """
        language Java 17
        build Maven
        build: mvn package -DskipTests
        test: mvn test
        """,
    ),
    "properties that mean each other": (
        {
            "pom.xml": """
                <project><artifactId>${a}</artifactId>
                <properties><a>${b}${b}</a><b>${a}${a}</b></properties></project>
            """
        },
        """
        language Java
        build Maven
        build: mvn package -DskipTests
        test: mvn test
        """,
    ),
    "no XML": (
        {"pom.xml": "<project>\n<a>\n</project>\n"},
        "note pom.xml: line 3: this is not XML: mismatched tag",
    ),
    "a document type": (
        {"pom.xml": '<?xml version="1.0"?>\n<!DOCTYPE a [<!ENTITY b "c">]>\n<project/>\n'},
        "note pom.xml: line 2: XML with a document type is not read",
    ),
    "something else": ({"pom.xml": "<html/>"}, "note pom.xml: not a Maven project"),
}

test_a_pom_is_read = make_test(CASES)
