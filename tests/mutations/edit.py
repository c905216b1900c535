"""Mutations of cub/edit: the pure editor, and what proves its edits."""

from __future__ import annotations

from tests.mutations.mutation import list_mutations

EDIT = list_mutations(
    {
        "cub/edit/document.py": {
            "a file that ends in CR counts a line too many": (
                'ends + (not data.endswith((b"\\r", b"\\n")) and data != b"")',
                'ends + (not data.endswith(b"\\n") and data != b"")',
            ),
            "the rarest line end is taken for the dominant one": (
                "return max(ends, key=lambda end: counts[end])",
                "return min(ends, key=lambda end: counts[end])",
            ),
            "a byte order mark is not counted as a part of the head": (
                "return skip + len(_find_front_matter(self.data[skip:]))",
                "return len(_find_front_matter(self.data[skip:]))",
            ),
            "Markdown between two breaks is hidden as front matter": (
                'return b"".join(lines[: number + 1]) if keys or number == 1 else b""',
                'return b"".join(lines[: number + 1])',
            ),
            "the second line with a word is found a line too early": (
                "line, at = line + 1, end.end() if end else len(self.data)",
                "line, at = line, end.end() if end else len(self.data)",
            ),
            "a byte order mark in front of a section is lost": (
                'mark = BOM if line == 0 and self.data.startswith(BOM) else b""\n        return mark +',
                'mark = b""\n        return mark +',
            ),
            "UTF-16 without a mark is taken for ASCII": (
                "return len(sample) >= 8 and max(shares) > 0.8 and min(shares) < 0.1",
                "return False",
            ),
        },
        "cub/edit/section_writer.py": {
            "a section makes a file larger than cub reads again": (
                'require_size(cut.data, document.path, "with its section, this file")',
                'require_size(b"", document.path, "with its section, this file")',
            ),
            "lines to be put below are dropped where the section is current": (
                "if section.is_current(body, version) and not lines_below:",
                "if section.is_current(body, version):",
            ),
            "a result that fails the proof is written all the same": (
                "if wrong := _find_cut_fault(document, section, cut):\n        raise _explain",
                "if (wrong := _find_cut_fault(document, section, cut)) and not wrong:\n        raise _explain",
            ),
            "a last line without an end comes back with one": (
                'return b"".join(lines[:-1]).removesuffix(get_line_end(lines[-2]))',
                'return b"".join(lines[:-1])',
            ),
            "a section is joined to a last line that has no end": (
                'return _Cut(data, newline * 2 + text, b"")',
                'return _Cut(data, newline + text, b"")',
            ),
            "an LF behind a lone CR becomes one line end with it": (
                'separator = end if end == b"\\r" else newline',
                "separator = newline",
            ),
            "a new line end on top joins an LF that was there": (
                'return b"\\r\\n" if newline == b"\\r" and rest.startswith(b"\\n") else newline',
                "return newline",
            ),
            "the indentation of lines put below a section is lost": (
                'below.strip(b"\\r\\n")',
                "below.strip()",
            ),
            "a replaced section at the end always gets a line end": (
                "text = render_section(body, version, newline) + get_line_end(document.lines[section.end - 1])",
                "text = render_section(body, version, newline) + newline",
            ),
            "a person's blank line below a section is removed with it": (
                "if top or describe_open_block(original):",
                "if True:",
            ),
        },
        "cub/edit/verification.py": {
            "a section may be found anywhere in the result": (
                "if new is None or not (new_span[0] <= new.start and new.end <= new_span[1]):",
                "if new is None:",
            ),
            "nobody checks that the section carries its own digest": (
                'if new.author != "cub":',
                'if new.author == "unknown":',
            ),
            "nobody checks that the section's heading renders": (
                'if not any(block.kind == "heading_open" for block in inside):',
                "if not new_blocks:",
            ),
            "nobody checks how the user's blocks render": (
                "if not _are_blocks_equal(old_blocks, old_span, new_blocks, new_span):",
                "if False:",
            ),
            "nobody checks that the user's lines stay": (
                "if not is_rest_equal or not _is_top_equal(before, after, above[0]):",
                "if False:",
            ),
            "lines above a change are compared but for all except the last": (
                "return one == other and before.lines[: lines - 1] == after.lines[: lines - 1]",
                "return one == other",
            ),
            "an open fence at the end of a file is overlooked": (
                "if last.start == len(probed.lines) - 1:",
                "if last.start != len(probed.lines):",
            ),
        },
        "cub/edit/sections.py": {
            "a section of an older version counts as current": (
                "return self.version == version and all(",
                "return all(",
            ),
            "the digest is not compared with the body": (
                'bodies = body.encode(), b"".join(self.body)',
                "bodies = (body.encode(),)",
            ),
            "a section without a digest counts as cub's own": (
                'if not recorded:\n        return "unknown"',
                'if not recorded:\n        return "cub"',
            ),
            "an edited section counts as cub's own": (
                'return "cub" if matches_digest(recorded, b"".join(body)) else "edited"',
                'return "cub"',
            ),
            "a person's comment below BEGIN is not a part of the body": (
                "return recorded, (*foreign, *inside[number:])",
                "return recorded, tuple(inside[number:])",
            ),
        },
        "cub/edit/markers.py": {
            "markers in a longer comment count": (
                "if number in numbers and not in_comment and raw_elements <= 0:",
                "if number in numbers and raw_elements <= 0:",
            ),
            "a conflict that overlaps the section is overlooked": (
                "if conflicts := find_overlapping_conflicts(document, markers[0].line, markers[-1].line):",
                "if conflicts := find_overlapping_conflicts(document, markers[-1].line, markers[0].line - 1):",
            ),
            "a second section is overlooked": (
                "if [marker.version is None for marker in markers] == [False, True]:",
                "if [marker.version is None for marker in markers][:2] == [False, True]:",
            ),
            "the end of a raw element opens another one": (
                "raw_elements += -1 if token[1] else 1",
                "raw_elements += 1",
            ),
            "their side of a conflict has git's closing line": (
                "self.middle + 1, self.end - 1)",
                "self.middle + 1, self.end)",
            ),
            "a conflict with two middle lines has known sides": (
                "or len(middles) != 1",
                "or not middles",
            ),
        },
        "cub/edit/user_lines.py": {
            "a person's lines are taken from the places of cub's": (
                "start += first - change.old",
                "start += change.old - first",
            ),
            "blank lines between a person's lines are dropped": (
                "_claim_gaps(is_user_line, words)\n    own_lines",
                "own_lines",
            ),
        },
        "cub/edit/line_matching.py": {
            "equal lines at both ends of a text are counted twice": (
                "tail = count_common_lines(old[head:][::-1], new[head:][::-1])",
                "tail = count_common_lines(old[::-1], new[::-1])",
            ),
        },
        "cub/edit/repair/repair_choice.py": {
            "a line above an inserted one is dropped by a repair": (
                "start = number + (number in removed_lines)",
                "start = number + 1",
            ),
            "a repair joins the last line of a file to the next one": (
                'if data and not data.endswith((b"\\r", b"\\n")):',
                "if not data:",
            ),
        },
        "cub/edit/repair/marker_choices.py": {
            "a repair drops a section that a person edited": (
                'if part.author != "cub":\n        return False',
                'if part.author == "unknown":\n        return False',
            ),
        },
        "cub/edit/repair/merge_sides.py": {
            "what is cub's on one side of a merge goes on both": (
                "return self.ours.cub_lines & self.theirs.cub_lines",
                "return self.ours.cub_lines | self.theirs.cub_lines",
            ),
            "lines that one side of a merge added are dropped": (
                "longer = max(ours_only, theirs_only, key=lambda part: (_has_text(part), len(part)))",
                "longer = min(ours_only, theirs_only, key=lambda part: (_has_text(part), len(part)))",
            ),
        },
        "cub/edit/repair/conflict_choices.py": {
            "one side with broken markers ends a repair": (
                "if ours.has_broken_markers and theirs.has_broken_markers:",
                "if ours.has_broken_markers or theirs.has_broken_markers:",
            ),
        },
        "cub/edit/repair/unmarked_sections.py": {
            "a shorter body than the one that stands there is recognized": (
                "length, version = max(fitting)",
                "length, version = min(fitting)",
            ),
            "an edited section without markers is doubled": (
                "text := find_similar_text(document, bodies)",
                "text := find_similar_text(document, ())",
                "tests/actions/test_unmarked.py",
            ),
        },
        "cub/edit/plan.py": {
            "two edits of one file become one without a word": (
                "if len({edit.path for edit in then.edits}) < len(then.edits):",
                "if len({edit.path for edit in then.edits}) > len(then.edits):",
            ),
            "an edit of two plans counts from the second one's start": (
                "        first,\n        after=then.after,",
                "        then,\n        after=then.after,",
            ),
        },
        "cub/edit/unified_diff.py": {
            "a diff does not say that a file has no last line end": (
                """    if lines[-1]:
        lines[-1] += """,
                """    if not lines[-1]:
        lines[-1] += """,
            ),
        },
        "cub/edit/file_header.py": {
            "a file of cub's that a person edited counts as intact": (
                "return header._replace(is_intact=header.matches(text[match.end() :], front))",
                "return header._replace(is_intact=True)",
            ),
        },
        "cub/edit/file_imports.py": {
            "a file with a merge conflict is inlined": (
                "if conflicts := find_conflicts(document):",
                "if conflicts := find_conflicts(document)[1:]:",
            ),
        },
        "cub/edit/repair/similar_text.py": {
            "a sample in a fence is taken for an edited section": (
                "samples = [block for block in blocks if block.kind in _SAMPLES]",
                "samples = [block for block in blocks if block.kind in ()]",
            ),
        },
        "cub/edit/block_boundaries.py": {
            "a boundary is sought within an open fence": (
                "if end == line or piece in self._open:",
                "if end == line:",
            ),
        },
    },
    tests="tests/edit",
)
