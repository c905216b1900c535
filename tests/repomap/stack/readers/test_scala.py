from __future__ import annotations

from tests.repomap.stack.told import Cases, make_test

CASES: Cases = {
    "sbt": (
        {
            "build.sbt": """
                // name := "old"
                ThisBuild / scalaVersion := "3.4.1"
                name := "tool"
                description := "A tool"
                lazy val core = (project in file("core"))
                lazy val root = project.in(file("."))
                libraryDependencies += "org.typelevel" %% "cats-effect" % "3.5.4"
                libraryDependencies += "org.scalatest" %% "scalatest" % scalatestVersion % Test
            """,
            "project/build.properties": "sbt.version=1.9.9\n",
            ".scalafmt.conf": 'version = "3.8.1"\n',
        },
        """
        language Scala 3.4.1
        framework Typelevel 3.5.4
        build sbt 1.9.9
        tool ScalaTest
        tool scalafmt 3.8.1
        build: sbt compile
        test: sbt test
        lint: sbt scalafmtCheckAll
        format: sbt scalafmtAll
        package . tool: A tool
        package core core
        """,
    ),
    "a project that has no build file of its own": (
        {"build.sbt": 'lazy val core = (project in file("core"))\n'},
        """
        language Scala
        build sbt
        build: sbt compile
        test: sbt test
        package core core
        """,
    ),
    "Mill": (
        {
            "build.sc": """
                object core extends ScalaModule {
                  def scalaVersion = "2.13.14"
                  def ivyDeps = Agg(ivy"com.typesafe.akka::akka-actor:2.8.5")
                }
            """,
            "mill": "",
        },
        """
        language Scala 2.13.14
        framework Akka 2.8.5
        build Mill
        build: ./mill __.compile
        test: ./mill __.test
        package core core
        """,
    ),
}

test_scala_is_read = make_test(CASES)
