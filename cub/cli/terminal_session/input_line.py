"""Read a prompt of one or many lines from the terminal, with history, completion, and a status."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from prompt_toolkit import PromptSession
from prompt_toolkit.application import get_app
from prompt_toolkit.enums import DEFAULT_BUFFER
from prompt_toolkit.filters import has_completions, has_focus
from prompt_toolkit.formatted_text import FormattedText
from prompt_toolkit.history import FileHistory, History, InMemoryHistory
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.patch_stdout import patch_stdout
from prompt_toolkit.styles import Style

from cub.cli.tables import measure_width
from cub.cli.terminal_session.input_completion import InputCompleter, InputSuggester
from cub.files.signed_state import make_private_folder

_STYLE = Style.from_dict({
    "prompt": "bold",
    "bottom-toolbar": "noreverse",
    "bottom-toolbar.text": "noreverse dim",
    "auto-suggestion": "dim",
})  # fmt: skip
_GAP = " · "
_REFRESH_SECONDS = 2.0  # for what works in the background
_PROMPT, _CONTINUATION = "> ", "  "


class InputLine:
    """Read what a person types.

    `get_status` returns the parts of the status line, the most important one first; `change_mode`
    is called for Shift-Tab.
    """

    def __init__(
        self,
        history_file: Path | None,
        completer: InputCompleter,
        get_status: Callable[[], Sequence[str]],
        change_mode: Callable[[], None],
    ) -> None:
        self._completer, self._get_status = completer, get_status
        self._is_aborted = False
        self._session: PromptSession[str] = PromptSession(
            FormattedText([("class:prompt", _PROMPT)]),
            multiline=True,
            history=_open_history(history_file),
            auto_suggest=InputSuggester(completer),
            completer=completer,
            complete_in_thread=True,
            complete_while_typing=True,
            key_bindings=_bind_keys(change_mode),
            bottom_toolbar=self._format_status,
            prompt_continuation=_CONTINUATION,
            style=_STYLE,
            include_default_pygments_style=False,
            enable_suspend=True,
            reserve_space_for_menu=6,
            refresh_interval=_REFRESH_SECONDS,
        )

    def read(self, begin: Callable[[], bool]) -> str:
        """Return what was typed, also before it was called.

        Raises EOFError for Ctrl-D or `abort`, and KeyboardInterrupt for Ctrl-C at an empty prompt.
        What other threads print meanwhile stands above the prompt. `begin` is called once keys and
        signals come to the prompt, and returns whether Ctrl-C came before.
        """
        self._completer.forget_files()

        def prepare() -> None:
            self._end_if_aborted()
            if begin() and not self._session.app.is_done:
                self._session.app.exit(exception=KeyboardInterrupt)

        try:
            with patch_stdout(raw=True):
                return self._session.prompt(pre_run=prepare)
        except Exception as error:
            if self._is_aborted:  # by its own signal, a terminal that is gone fails in many ways
                raise EOFError from error
            raise

    @property
    def is_waiting(self) -> bool:
        """Return whether `read` waits for what is typed."""
        return self._session.app.is_running

    def abort(self) -> None:
        """End `read`, now and later; a signal handler may call it."""
        self._is_aborted = True
        loop = self._session.app.loop
        if loop is not None and self._session.app.is_running:
            with suppress(RuntimeError):  # it is closed
                loop.call_soon_threadsafe(self._end_if_aborted)

    def _end_if_aborted(self) -> None:
        app = self._session.app
        if self._is_aborted and app.is_running and not app.is_done:
            app.exit(exception=EOFError)

    def _format_status(self) -> str:
        return fit_status(self._get_status(), get_app().output.get_size().columns)


def fit_status(parts: Sequence[str], width: int) -> str:
    """Return as many parts as fit into a line; the last ones give way."""
    shown: list[str] = []
    for part in parts:
        if part and measure_width(_GAP.join([*shown, part])) < width:
            shown.append(part)
    return _GAP.join(shown)


def _open_history(path: Path | None) -> History:
    """Return the history in a file that nobody else can read; only in memory if it can't be."""
    if path is None:
        return InMemoryHistory()
    try:
        make_private_folder(path.parent)
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600))
    except OSError:
        return InMemoryHistory()
    return FileHistory(path)


def _bind_keys(change_mode: Callable[[], None]) -> KeyBindings:
    keys = KeyBindings()
    is_input = has_focus(DEFAULT_BUFFER)

    @keys.add("enter", filter=is_input)
    def _accept(event: KeyPressEvent) -> None:
        buffer = event.current_buffer
        is_chosen = buffer.complete_state and buffer.complete_state.current_completion
        if is_chosen and not buffer.text.startswith("/"):  # text may follow a file
            buffer.complete_state = None
        elif buffer.document.current_line_before_cursor.endswith("\\"):
            buffer.delete_before_cursor()
            buffer.newline(copy_margin=False)
        elif buffer.text.strip():
            buffer.validate_and_handle()

    @keys.add("escape", "enter", filter=is_input)
    @keys.add("c-j", filter=is_input)
    def _break_line(event: KeyPressEvent) -> None:
        event.current_buffer.newline(copy_margin=False)

    @keys.add("c-x", "c-e", filter=is_input)
    def _edit(event: KeyPressEvent) -> None:
        event.current_buffer.open_in_editor()  # prompt_toolkit's own binding also sends the text

    @keys.add("c-c", filter=is_input)
    def _clear(event: KeyPressEvent) -> None:
        if event.current_buffer.text:
            event.current_buffer.reset()
        else:
            event.app.exit(exception=KeyboardInterrupt)

    @keys.add("s-tab", filter=is_input & ~has_completions)
    def _change_mode(event: KeyPressEvent) -> None:
        change_mode()
        event.app.invalidate()

    return keys
