"""What a newcomer sees first: the annotated tree, key files, conventions, what the project is."""
