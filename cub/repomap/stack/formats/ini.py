"""INI files as Python's tools write them: setup.cfg, tox.ini and the like."""

from __future__ import annotations


def sections(text: str) -> dict[str, dict[str, str]]:
    """The sections of a text with their options; ValueError for a text that is no INI file."""
    import configparser

    parser = configparser.RawConfigParser(strict=False, allow_no_value=True, default_section="")
    try:
        parser.read_string(text)
    except configparser.MissingSectionHeaderError as error:
        raise ValueError(f"line {error.lineno}: this stands in no section") from None
    except configparser.ParsingError as error:
        line = f"line {error.errors[0][0]}: " if error.errors else ""
        raise ValueError(f"{line}this is no option") from None
    except AttributeError:  # configparser's own, for a value below an option without one
        raise ValueError("this is not an INI file") from None
    except configparser.Error as error:
        raise ValueError(f"this is not an INI file: {error.message}") from None
    return {
        name: {key: value or "" for key, value in parser[name].items()}
        for name in parser.sections()
    }


def values(text: str) -> list[str]:
    """The lines of an option that has several."""
    return [line.strip() for line in text.split("\n") if line.strip()]
