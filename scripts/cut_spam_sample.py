"""Cut data/spam_sample.tsv.gz and data/spam_test.tsv.gz out of the SpamAssassin public mail corpus.

Enters: a file with a mail a line, `+1` (spam) or `-1` (ham), a tab, and the raw mail with its line ends
turned into blanks, shuffled:  scripts/cut_spam_sample.py MAILS.tsv FOLDER
Leaves: `spam` or `ham`, a tab, and the subject and the first words of the body. Lower-case words only,
without headers, markup, addresses and links: nobody can be written to, and what is selected reads well.
"""

import gzip
import html
import re
import sys
from pathlib import Path

TRAIN, TEST = 1_500, 500
FEWEST_WORDS = 15
MOST_BYTES = 1_500

HEADER = re.compile(
    r" (?:(?:X|List|Content|Delivered|Return|In|Reply|Message|Mime|MIME|User|Errors|Resent)-[\w-]+"
    r"|From|To|Cc|Date|Subject|Sender|Received|References|Precedence|Importance|Lines|Organization|Status)"
    r":(?= )"
)
HEADER_VALUE = re.compile(
    r"\s*(?:<[^>]*>\s*)+"
    r"|\s*(?:\w{3}, )?\d+ \w{3} \d{4} [\d:]+ [+-]\d{4}(?: \(\w+\))?"
    r"|\s*(?:text|multipart|application)/\S+(?: [\w-]+=(?:\"[^\"]*\"|\S+))*"
    r"|\s*(?:\S+ ?){1,4}"
)
# No header is longer than this; a `To:` further on belongs to a mail that is quoted.
LONGEST_HEADER = 700
SUBJECT = re.compile(r" Subject: (.*?)(?= [A-Z][\w-]+: )")
SOFT_LINE_END = re.compile(r"=\s")
QUOTED_BYTE = re.compile(r"=([0-9A-F]{2})")
NOT_TEXT = re.compile(
    r"<(style|script)\b.*?(?:</\1>|$)|<!--.*?(?:-->|$)|<[^>]*>|\S*@\S*|\S*(?:://|www\.)\S*|\S{30,}",
    re.IGNORECASE,
)
WORD = re.compile(r"(?<![\w=/.'-])[a-z]{2,18}(?:'[a-z]{1,2})?(?![\w=/'-])")


def subject_and_body(mail):
    """The two parts that people read; the headers end where no further one follows closely."""
    subject = SUBJECT.search(mail)
    end = 0
    for header in HEADER.finditer(mail):
        if header.start() - end > LONGEST_HEADER and end:
            break
        end = header.end()
    value = HEADER_VALUE.match(mail, end)
    return subject.group(1) if subject else "", mail[value.end() if value else end :]


def plain(text):
    text = QUOTED_BYTE.sub(lambda byte: chr(int(byte.group(1), 16)), SOFT_LINE_END.sub("", text))
    return NOT_TEXT.sub(" ", html.unescape(NOT_TEXT.sub(" ", text))).lower()


def words(mail):
    subject, body = subject_and_body(mail)
    text = " ".join(WORD.findall(plain(subject) + " " + plain(body)))
    return text if len(text) <= MOST_BYTES else text[:MOST_BYTES].rsplit(" ", 1)[0]


def sample(lines):
    """The first mails with enough words, each text once: mass mail repeats itself."""
    seen = set()
    for line in lines:
        label, _, mail = line.rstrip("\n").partition("\t")
        text = words(mail)
        if text.count(" ") + 1 >= FEWEST_WORDS and text not in seen:
            seen.add(text)
            yield f"{'spam' if label == '+1' else 'ham'}\t{text}\n"
        if len(seen) == TRAIN + TEST:
            return


def write(path, lines):
    path.write_bytes(gzip.compress("".join(lines).encode(), mtime=0))


def main(source, folder):
    with Path(source).open(encoding="utf-8", errors="replace") as lines:
        mails = list(sample(lines))
    write(Path(folder, "spam_sample.tsv.gz"), mails[:TRAIN])
    write(Path(folder, "spam_test.tsv.gz"), mails[TRAIN:])


if __name__ == "__main__":
    main(*sys.argv[1:])
