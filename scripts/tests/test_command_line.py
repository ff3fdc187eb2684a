"""Mistakes on the command line: one line that names what is wrong, exit code 2."""

import pytest

from tlmssd import cli


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["whatif", "a.yaml"], "the following arguments are required: --metric"),
        (["compare", "a", "b", "--seeds", "x"], "argument --seeds: "),
        (["meet"], "the following arguments are required: "),
        (["explore", "a.yaml", "--nonsense"], "unrecognized arguments: --nonsense"),
        (["expolre"], "argument COMMAND: invalid choice: 'expolre'"),
    ],
)
def test_a_mistake_is_one_line(arguments, problem, capsys):
    with pytest.raises(SystemExit) as end:
        cli.main(arguments)
    assert end.value.code == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    (line,) = printed.err.splitlines()
    assert line.startswith(f"tlmssd: {problem}")
    assert line.endswith(" --help")


def test_usage_is_printed_where_it_is_asked_for(capsys):
    with pytest.raises(SystemExit) as end:
        cli.main(["whatif", "--help"])
    assert end.value.code == 0
    assert capsys.readouterr().out.startswith("usage: ")
