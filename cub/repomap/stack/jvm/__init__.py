"""The manifests of Java, Kotlin and Scala."""
