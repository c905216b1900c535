"""The project map: facts about a repository, read only, and the text that says most of them."""
