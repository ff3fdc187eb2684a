"""extract.py FOLDER PAGE...: writes the blocks of code behind a line `<!-- file: NAME -->` of the pages into the folder."""

import pathlib
import re
import sys

target = pathlib.Path(sys.argv[1])
target.mkdir(parents=True, exist_ok=True)
for page in sys.argv[2:]:
    text = pathlib.Path(page).read_text(encoding="utf-8")
    for name, code in re.findall(r"<!-- file: (\S+) -->\n```\w+\n(.*?)^```$", text, re.S | re.M):
        (target / name).write_text(code, encoding="utf-8")
