from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cub.harness.aider import AiderHarness
from cub.harness.base import AgentEvent
from cub.harness.native_harness import NativeOptions
from cub.tokens import TokenUsage
from tests.examples import few_examples
from tests.harness.agent_streams import NOW, make_request, play_sample, play_stream

HARNESS = AiderHarness()
HEADER = """\
Can't initialize prompt toolkit: No Windows console found. Are you running cmd.exe?
HTTPSConnectionPool(host='raw.githubusercontent.com', port=443): Max retries exceeded
Aider v0.86.2
Main model: openai/gpt-4o with diff edit format
Weak model: gpt-4o-mini
Git repo: .git with 3 files
Repo-map: disabled
"""
TOKENS = "Tokens: 2.6k sent, 35 received. Cost: $0.0068 message, $0.0068 session.\n"
LIMIT = (
    "litellm.RateLimitError: RateLimitError: OpenAIException - Rate limit reached for gpt-5. "
    "Please try again in 3600s."
)
HELP = "The API provider has rate limited you. Try again later or check your quotas.\n"


def test_the_system_prompt_is_a_read_only_file(tmp_path: Path) -> None:
    request = make_request(tmp_path, prompt="/run rm", model="gpt-4o")
    command = HARNESS.build_command(request)
    assert command.argv[0] == "aider"
    assert command.argv[-4:] == ("--model", "gpt-4o", "--message-file", str(tmp_path / "input.md"))
    assert "--read" not in command.argv
    assert command.stdin == b""
    assert command.argv[command.argv.index("--load") + 1] == str(tmp_path / "aider.load")
    assert command.files["aider.load"].decode() == f'/read-only "{tmp_path / "system.md"}"\n'
    text = command.files["input.md"]
    assert text.startswith(b"Follow the instructions in the read-only file")
    assert text.endswith(b"\n/run rm")


def test_aider_changes_nothing_but_the_work(tmp_path: Path) -> None:
    argv = HARNESS.build_command(make_request(tmp_path)).argv
    for flag in ("--yes-always", "--no-gitignore", "--no-auto-commits", "--no-dirty-commits"):
        assert flag in argv
    assert argv[argv.index("--map-tokens") + 1] == "0"
    files = [argv[argv.index(f"--{kind}-history-file") + 1] for kind in ("chat", "input")]
    assert {Path(file).parent for file in files} == {tmp_path}


@pytest.mark.parametrize("prompt", ["/run rm", "!rm", "Do it."])
def test_no_prompt_is_a_command(tmp_path: Path, prompt: str) -> None:
    command = HARNESS.build_command(make_request(tmp_path, prompt=prompt, system_prompt="\n"))
    assert "--load" not in command.argv
    assert command.files == {"input.md": f"\n{prompt}".encode()}


def test_options_change_the_command(tmp_path: Path) -> None:
    options = NativeOptions(("--map-tokens", "4096"), {"COLUMNS": "80"}, "o3")
    command = AiderHarness(options).build_command(make_request(tmp_path))
    assert command.argv[-6:-2] == ("--model", "o3", "--map-tokens", "4096")
    assert command.environ == {"BROWSER": "true", "COLUMNS": "80"}


def test_a_reply_counts_when_its_tokens_follow() -> None:
    loaded = 'Executing: /read-only "x"\nAdded x to read-only files.\n'
    reply = "\nbread.py\n\na/test.sh\nI change it.\n\nStatus: done\n\n"
    out = f"{HEADER}{loaded}{reply}{TOKENS}Applied edit to bread.py\n"
    played = play_stream(HARNESS, out)
    assert played.list_texts("model") == ["openai/gpt-4o"]
    assert played.list_texts("text") == [reply]
    assert played.list_texts("tool") == ["edit bread.py"]
    transcript = played.transcript
    assert transcript.tokens == TokenUsage(2600, 35, 0, 0)
    assert transcript.usd == 0.0068
    assert transcript.final_message == "I change it.\n\nStatus: done"
    assert played.is_success()
    assert not played.is_success(1)


def test_the_messages_of_a_session_add_up() -> None:
    played = play_sample(HARNESS, "aider-0.86.2-t0")
    assert played.transcript.tokens == TokenUsage(5200, 70, 0, 0)
    assert played.transcript.usd == pytest.approx(0.0068 + 0.0069)
    assert played.transcript.final_message.endswith("all done <promise>COMPLETE</promise>")
    assert HARNESS.is_success(played.transcript, 0)


@pytest.mark.parametrize(
    ("line", "tokens", "usd"),
    [
        ("Tokens: 999 sent, 1.2k received.", TokenUsage(999, 1200, 0, 0), None),
        (
            (
                "Tokens: 12k sent, 2.0k cache write, 3.0k cache hit, 5 received.\n"
                "Cost: $1.23 message, $4.56 session."
            ),
            TokenUsage(7000, 5, 3000, 2000),
            1.23,
        ),
    ],
)
def test_tokens_have_several_forms(line: str, tokens: TokenUsage, usd: float | None) -> None:
    transcript = play_stream(HARNESS, f"{HEADER}ok\n{line}\n").transcript
    assert transcript.tokens == tokens
    assert transcript.usd == usd


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("aider-0.86.2-e401", "login"),
        ("aider-0.86.2-e429-bare", "limit"),
        ("aider-0.86.2-e429-retry-after-3600", "limit"),
    ],
)
def test_real_failures_have_their_class(name: str, kind: str) -> None:
    played = play_sample(HARNESS, name)
    assert played.refusal_kind == kind
    assert not played.is_success()


@pytest.mark.parametrize("case", ["empty-prompt", "int-api", "term-api"])
def test_an_exit_code_of_0_is_no_success(case: str) -> None:
    transcript = play_sample(HARNESS, f"aider-0.86.2-{case}").transcript
    assert not HARNESS.is_success(transcript, 0)
    assert transcript.refusal is None


def test_a_limit_has_its_time_while_aider_tries_again() -> None:
    reader = HARNESS.open_reader()
    events = [*reader.read(f"{HEADER}\n{LIMIT}\n{HELP}Retrying in 0.2 seconds...\n".encode())]
    assert AgentEvent("limit", LIMIT) in events
    refusal = play_stream(HARNESS, f"{HEADER}\n{LIMIT}\n{HELP}").refusal
    assert refusal
    assert refusal.reset_time == NOW + timedelta(hours=1)


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        ("litellm.InternalServerError: InternalServerError: OpenAIException - Connection error.",
         "service"),
        ("litellm.Timeout: APITimeoutError - Request timed out.", "service"),
        ("litellm.BadRequestError: OpenAIException - no such model", "setup"),
        ("Traceback (most recent call last):", None),
        ("Model gpt-4o has hit a token limit!", "setup"),
    ],
)  # fmt: skip
def test_an_error_after_the_last_reply_is_a_failure(error: str, kind: str | None) -> None:
    transcript = play_stream(HARNESS, f"{HEADER}I try.\n{TOKENS}\n{error}\nHelp.\n").transcript
    assert not HARNESS.is_success(transcript, 0)
    assert (transcript.final_message, transcript.error) == ("I try.", f"{error}\n")
    assert (transcript.refusal.kind if transcript.refusal else None) == kind


def test_an_error_in_a_reply_is_the_text_of_the_model() -> None:
    out = f"{HEADER}A test prints:\n{LIMIT}\n{HELP}{TOKENS}"
    transcript = play_stream(HARNESS, out).transcript
    assert transcript.refusal is None
    assert HARNESS.is_success(transcript, 0)


def test_aider_without_a_key_needs_a_login() -> None:
    line = "No LLM model was specified and no API keys were provided."
    assert play_stream(HARNESS, f"{line}\n").list_texts("login") == [line]


def test_a_reply_of_3_mb_is_one_event() -> None:
    reply = "".join(f"{number:050}\n" for number in range(60_000))
    played = play_stream(HARNESS, f"{HEADER}{reply}{TOKENS}")
    assert len(played.list_texts("text")) == 1
    assert played.transcript.final_message.endswith("059999")


@few_examples
@given(st.lists(st.sampled_from([HEADER, TOKENS, LIMIT, "Tokens: ", "\n", "\r", "x"]) | st.text()))
def test_no_text_raises(pieces: list[str]) -> None:
    text = "".join(pieces).encode("utf-8", "replace")
    whole = play_stream(HARNESS, text).transcript
    reader = HARNESS.open_reader()
    events = [event for byte in text for event in reader.read(bytes([byte]))]
    tokens = [event.tokens for event in [*events, *reader.finish()] if event.tokens]
    assert sum(one.total for one in tokens) == (whole.tokens.total if whole.tokens else 0)


def test_an_empty_reply_is_a_failed_service_and_no_question() -> None:
    line = "Empty response received from LLM. Check your provider account?"
    transcript = play_stream(HARNESS, f"{HEADER}{line}\n\n{TOKENS}").transcript
    assert transcript.refusal == AgentEvent("service", line)
    assert HARNESS.lacks_reply(transcript)
    assert (transcript.final_message, transcript.error) == ("", f"{line}\n")


def test_a_first_prompt_that_is_too_long_is_a_matter_of_the_setup() -> None:
    none = "Tokens: 3.3k sent, 0 received. Cost: $0.01 message, $0.01 session."
    out = f"{HEADER}{none}\n\nModel gpt-4o has hit a token limit!\nInput tokens: ~3,271\n"
    transcript = play_stream(HARNESS, out).transcript
    assert transcript.refusal
    assert transcript.refusal.kind == "setup"
    assert HARNESS.lacks_reply(transcript)


def test_text_that_is_not_complete_is_no_reply() -> None:
    assert HARNESS.lacks_reply(play_stream(HARNESS, f"{HEADER}rye.md\n").transcript)
    assert not HARNESS.lacks_reply(play_stream(HARNESS, f"{HEADER}Hi.\n{TOKENS}").transcript)
