"""What commands cost; `EMPTY` is the program that they are compared to."""

EMPTY = "import typer\napp = typer.Typer()\n@app.command()\ndef main() -> None: ...\napp()\n"
