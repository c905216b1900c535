"""Mutations of cub/files: the one writer of plans, and what it recovers from."""

from __future__ import annotations

from tests.mutations.mutation import list_mutations

FILES = list_mutations(
    {
        "cub/files/apply.py": {
            "a plan is applied without the lock": (
                "    lock.require_held()\n    disk = disk or Disk()",
                "    disk = disk or Disk()",
                "tests/files/test_lock.py",
            ),
            "a change after the commit is overlooked without a word": (
                "    if unwritten:\n",
                "    if len(unwritten) > 1:\n",
                "tests/files/test_guard.py",
            ),
            "nobody looks whether files may be written before anything is": (
                "    require_changeable(root, steps, disk)\n",
                "",
                "tests/files/test_foreseen.py",
            ),
            "one of two names of a file loses it": (
                "real.stat().st_nlink > 1 or",
                "real.stat().st_nlink > 2 or",
            ),
            "a file that changed since it was read is overwritten": (
                "    if content != edit.before:\n",
                "    if now is None and edit.before is not None:\n",
                "tests/files/test_guard.py",
            ),
            "nobody looks again before the commit": (
                "    _sync_names(change)\n    for edit in plan.edits:\n        _require_unchanged(edit, root)\n",
                "    _sync_names(change)\n",
                "tests/files/test_guard.py",
            ),
            "the names of temporary files are not synced before the commit": (
                "    _sync_names(change)\n    for",
                "    for",
                "tests/files/test_order.py",
            ),
            "the parent folder of a new folder is not synced": (
                "for name in (*names, *change.folders)}",
                "for name in names}",
                "tests/files/test_order.py",
            ),
            "a new file does not get the attributes of the old one": (
                "edit.after, like, edit.is_executable)",
                "edit.after, None, edit.is_executable)",
                "tests/files/test_modes.py",
            ),
        },
        "cub/files/disk.py": {
            "the bytes of a private file can be read by others for a moment": (
                "mode = 0o666 if like is None else 0o600",
                "mode = 0o666",
                "tests/files/test_modes.py",
            ),
            "a file that is there already is overwritten by a new one": (
                "os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)",
                "os.O_WRONLY | os.O_CREAT, mode)",
            ),
            "written bytes are not synced": (
                "            os.fsync(descriptor)\n        except OSError as error:\n            error.filename",
                "            pass\n        except OSError as error:\n            error.filename",
                "tests/files/test_order.py",
            ),
            "a file that is overwritten by less keeps the rest": (
                "            if truncates:\n",
                "            if truncates and not data:\n",
                "tests/files/test_apply.py",
            ),
            "a commit that is taken back still reads as one": (
                "file.truncate(path.stat().st_size - count)",
                "file.truncate(path.stat().st_size)",
                "tests/files/test_take_back.py",
            ),
        },
        "cub/files/journal.py": {
            "the folder of the journal is not synced": (
                "_sign_record(root, json.dumps(record).encode()))\n        disk.sync_folder((root / JOURNAL_FILE).parent)\n",
                "_sign_record(root, json.dumps(record).encode()))\n",
                "tests/files/test_order.py",
            ),
            "a torn commit counts as one": (
                "if commit_line == _COMMITTED:",
                "if commit_line:",
                "tests/files/test_take_back.py",
            ),
        },
        "cub/files/signed_state.py": {
            "any journal is believed": (
                'return data if _is_signed(path, data, signature) else b""\n',
                "return data or line\n",
                "tests/files/test_journal.py",
            ),
            "a signature counts for any place": (
                "return os.fsencode(path.relative_to(folder).as_posix() if is_state else path.as_posix())",
                'return b""',
            ),
            "a file of the state counts with any signature": (
                "return parse_object(data) if _is_signed(path, data, signature) else {}",
                "return parse_object(data) if signature else {}",
            ),
        },
        "cub/files/recovery.py": {
            "files are deleted before others are overwritten": (
                '{"overwrite": 0, "rename": 1, "unlink": 2, "delete": 3}',
                '{"overwrite": 3, "rename": 1, "unlink": 2, "delete": 0}',
                "tests/files/test_order.py",
            ),
            "a file that was changed after the commit is overwritten": (
                "if target.is_dir() or not (\n        digest in (step.before, step.after) or _is_partly_written(journal, step)\n    ):",
                "if target.is_dir():",
                "tests/files/test_guard.py",
            ),
            "a file that was changed after the commit is deleted": (
                "if target.is_dir() or digest not in (step.before, step.after):",
                "if target.is_dir():",
                "tests/files/test_guard.py",
            ),
            "a link that was changed meanwhile is removed": (
                "if text is None or hash_content(text) != step.before:",
                "if text is None:",
                "tests/files/test_unlink.py",
            ),
            "targets are not synced before the journal goes": (
                "if not _carry_out(journal, step)]\n        _sync_targets(journal)",
                "if not _carry_out(journal, step)]",
                "tests/files/test_order.py",
            ),
            "the journal goes before temporary files do": (
                "        _remove_temps(journal)\n        _remove_empty_folders(journal)\n        journal.remove()\n",
                "        journal.remove()\n        _remove_temps(journal)\n        _remove_empty_folders(journal)\n",
                "tests/files/test_crash.py",
            ),
            "the old text of a file that somebody changed is dropped": (
                "if name and name not in excluded_paths:",
                "if name:",
                "tests/files/test_take_back.py",
            ),
            "steps are taken back in the order in which they were made": (
                "for step in reversed(_sort_steps(journal.steps)) if not _restore",
                "for step in _sort_steps(journal.steps) if not _restore",
                "tests/files/test_unlink.py",
            ),
            "what is no old file any more is put back as one": (
                "    return hash_content(old) == step.before\n",
                "    return bool(hash_content(old))\n",
                "tests/files/test_take_back.py",
            ),
        },
        "cub/files/lock.py": {
            "an interrupted change is not ended before the next one": (
                "warnings = tuple(recover_change(root, disk))",
                "warnings = tuple(warn_pending_change(root))",
                "tests/files/test_unlink.py",
            ),
            "a lock that was given back is leave to write": (
                "if not self.lock.is_locked:",
                "if self.lock is None:",
            ),
            "a lock that is a link is written through": (
                "    if not stat.S_ISREG(mode):\n",
                "    if stat.S_ISDIR(mode):\n",
            ),
            "a new .cub is not synced into its folder": (
                "        disk.make_folder(folder)\n        disk.sync_folder(folder.parent)\n",
                "        disk.make_folder(folder)\n",
            ),
            "a new holder of the lock is no progress": (
                "holder, holder_since = mark, now",
                "holder = mark",
                "tests/files/test_lock_lock_wait.py",
            ),
        },
        "cub/files/single_file.py": {
            "a single file that changed since it was read is replaced": (
                "    if read_single_file(path, display_path) != before:\n",
                "    if before is None and read_single_file(path, display_path) is not None:\n",
            ),
            "a temporary file is left where the disk refuses": (
                "        with suppress(OSError):\n            temp.unlink()\n",
                "",
            ),
        },
        "cub/files/read_files.py": {
            "git's own folder may be written where letters have another case": (
                '".git" in {part.casefold() for part in',
                '".git" in {part for part in',
                "tests/files/test_read_files.py",
                "tests/files/test_read_files.py",
            ),
            "a FIFO is opened as if it were a file": (
                "    if not stat.S_ISREG(mode):\n",
                "    if stat.S_ISDIR(mode):\n",
            ),
            "a device is read in a listing": (
                "if stat.S_ISREG(os.fstat(handle).st_mode):",
                "if not stat.S_ISDIR(os.fstat(handle).st_mode):",
            ),
        },
        "cub/files/file_tree.py": {
            "a deleted file is listed in a plan's tree": (
                "return (self.base.list_names(folder) | new) - deleted",
                "return self.base.list_names(folder) | new",
            ),
        },
        "cub/files/internal_files.py": {
            "a temporary file of a cache is left where its bytes cannot be made": (
                "        with suppress(OSError):\n            temp.unlink()\n        raise\n",
                "        raise\n",
            ),
        },
    },
)
