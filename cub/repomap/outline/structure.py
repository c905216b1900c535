"""Read the structure of a project from the names of its files and from its manifests."""

from __future__ import annotations

import os
from functools import partial

from cub.repomap.listing.file_kinds import FOREIGN_KINDS
from cub.repomap.listing.file_listing import read_listed_file
from cub.repomap.listing.languages import compute_language_shares
from cub.repomap.outline.conventions import list_conventions
from cub.repomap.outline.descriptions import (
    condense_description,
    describe_folders,
    summarize_project,
)
from cub.repomap.outline.folder_tree import build_folder_tree
from cub.repomap.outline.key_files import find_key_files
from cub.repomap.repo_map import ProjectStructure
from cub.repomap.stack.facts import ProjectStack
from cub.repomap.stack.read_stack import read_stack
from cub.repomap.symbols.scan import ClassifiedFiles


def read_structure(files: ClassifiedFiles) -> ProjectStructure:
    """Look at the names of all files, and read those that describe the whole project."""
    listing, classifier = files.listing, files.classifier
    paths = [path for path in listing.paths if classifier.classify(path) not in FOREIGN_KINDS]
    read = partial(read_listed_file, os.fspath(listing.root))
    stack = read_stack(listing.paths, classifier, read)
    descriptions = describe_folders(frozenset(paths), read) | _describe_packages(stack)
    return ProjectStructure(
        summary=summarize_project(frozenset(paths), read),
        languages=compute_language_shares(listing.files, classifier),
        stack=stack,
        key_files=find_key_files(listing.paths, stack.entry_points, classifier),
        conventions=list_conventions(paths, stack.technologies, classifier, read),
        tree=build_folder_tree(paths, descriptions, classifier.classify),
    )


def _describe_packages(stack: ProjectStack) -> dict[str, str]:
    descriptions = {
        p.folder: condense_description(p.description, p.folder)
        or condense_description(p.name.rpartition("/")[2], p.folder)
        for p in stack.packages
        if p.folder
    }
    return {folder: text for folder, text in descriptions.items() if text}
