"""The scripts that make bash, zsh and fish complete our command lines, upon click's own machinery.

bash splits a line at ":" and "=" as well as at spaces, and inserts what it is given as it stands. So the line is read here, and
what is offered is the rest of the piece that bash replaces, with the signs quoted that a shell would obey: a category named
`$(reboot)` stays a name.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from typing import Any

from click import shell_completion
from click.shell_completion import BashComplete, CompletionItem, FishComplete, ZshComplete

_BASH = """\
# To have it in every new shell: archivist completion bash > ~/.local/share/bash-completion/completions/archivist
%(complete_func)s() {
    local kind value
    COMPREPLY=()
    while IFS=, read -r kind value; do
        case $kind in
            plain) COMPREPLY+=("$value") ;;
            dir) compopt -o dirnames ;;
            file) compopt -o default ;;
        esac
    done < <(COMP_LINE="${COMP_LINE:0:COMP_POINT}" COMP_WORDBREAKS="$COMP_WORDBREAKS" \\
        %(complete_var)s=bash_complete "${1/#\\~/$HOME}" 2>/dev/null </dev/null)
}
complete -o nosort -F %(complete_func)s %(prog_name)s
"""
_ZSH_NOTE = '# To have it in every new shell: archivist completion zsh > "${fpath[1]}/_archivist"\n'
_FISH_NOTE = "# To have it in every new shell: archivist completion fish > ~/.config/fish/completions/archivist.fish\n"
_SPECIAL = re.compile(r"[^\w@%+=:,./-]")
_IN_DOUBLE = re.compile(r'["$`\\]')
_ASSIGNMENT = re.compile(r"\w+=")


@dataclass(slots=True)
class _Line:
    """A command line up to the cursor, as a shell reads it.

    words: those that are complete. current: the one under way, unquoted; quote: the quotation mark that is open in it, else "".
    replaced: how many characters of it stand before the piece that the shell would replace.
    """

    words: list[str] = field(default_factory=list)
    current: str = ""
    quote: str = ""
    replaced: int = 0


def read_line(text: str, breaks: str) -> _Line:
    """Read a line that may end within a word or a quotation. breaks: the signs at which the shell begins a new piece of a word."""
    line, begun, escaped = _Line(), False, False
    for sign in text:
        if escaped:
            line.current, escaped = line.current + sign, False
        elif sign == "\\" and line.quote != "'":
            escaped = begun = True
        elif line.quote:
            line.quote, line.current = ("", line.current) if sign == line.quote else (line.quote, line.current + sign)
        elif sign in "'\"":
            line.quote, line.replaced, begun = sign, len(line.current), True
        elif sign.isspace():
            if begun:
                line.words.append(line.current)
            line.current, line.replaced, begun = "", 0, False
        else:
            line.current, begun = line.current + sign, True
            if sign in breaks:
                line.replaced = len(line.current)
    return line


def quoted(value: str, quote: str) -> str:
    """A value as it can stand in a line, within the quotation that is open; "" where that cannot be."""
    if quote == "'":
        return "" if "'" in value else value
    return _IN_DOUBLE.sub(r"\\\g<0>", value) if quote else _SPECIAL.sub(r"\\\g<0>", value)


class _Whole:
    """Offers the whole word where click offers what stands behind the "=" of an option alone."""

    def get_completions(self, args: list[str], incomplete: str) -> list[CompletionItem[str]]:
        """What fits, as whole words."""
        found = super().get_completions(args, incomplete)  # type: ignore[misc]
        name, sign, _ = incomplete.partition("=")
        if not (sign and name.startswith("-")):
            return list(found)
        return [CompletionItem(f"{name}={item.value}", item.type, item.help) for item in found]


class _Bash(_Whole, BashComplete):
    source_template = _BASH

    def source(self) -> str:
        """The script; which bash will read it is not asked."""
        return self.source_template % self.source_vars()

    def get_completion_args(self) -> tuple[list[str], str]:
        """The words before the cursor and the one under way."""
        self._line = self._read()
        words = self._line.words
        while words and _ASSIGNMENT.match(words[0]):
            words = words[1:]
        return words[1:], self._line.current

    def format_completion(self, item: CompletionItem[Any]) -> str:
        """The piece that bash is to insert."""
        if item.type != "plain":
            return f"{item.type},"
        return f"plain,{quoted(str(item.value)[self._line.replaced :], self._line.quote)}"

    @staticmethod
    def _read() -> _Line:
        """The line up to the cursor."""
        return read_line(os.environ["COMP_LINE"], os.environ.get("COMP_WORDBREAKS", ":="))


class _Zsh(_Whole, ZshComplete):
    def source(self) -> str:
        """The script of click; its first line must stay the first."""
        first, _, rest = super().source().partition("\n")
        return f"{first}\n{_ZSH_NOTE}{rest}"


class _Fish(_Whole, FishComplete):
    def source(self) -> str:
        """The script of click."""
        return f"{_FISH_NOTE}{super().source()}"


SHELLS = ("bash", "zsh", "fish")


def register() -> None:
    """Have click use these."""
    for found in (_Bash, _Zsh, _Fish):
        shell_completion.add_completion_class(found)


__all__ = ["SHELLS", "quoted", "read_line", "register"]
