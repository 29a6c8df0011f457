#!/bin/sh
# The main job on bundled real data: which 25 words tell spam from other mail, and how far they go on mails that
# were kept out. `make demo` makes .venv first.
set -eu
cd "$(dirname "$0")/.."
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
PATH="$PWD/.venv/bin:$PATH"

# The words of one side, the weightiest first: `words '>'` for spam.
words() {
  python -c "import json, sys; print(', '.join(r['feature'] for r in map(json.loads, sys.stdin) if r['weight'] $1 0))" \
    <"$folder/words.jsonl" | fold -s -w 100 | sed 's/^/    /'
}

echo "\$ fsstream select --k 25 --format tokens \\"
echo "    --model spam.fss data/spam_sample.tsv.gz"
fsstream select --k 25 --format tokens \
  --model "$folder/spam.fss" --output "$folder/words.jsonl" data/spam_sample.tsv.gz
cat "$folder/words.jsonl"

echo
echo "One pass over 1,500 mails with 17,000 different words. A positive weight speaks for spam: it is"
echo "about money, business and your investment, wants a click, and offers to remove you from its list."
words '>'
echo "A negative weight speaks for other mail: people answer, quote and discuss their work."
words '<'

echo
echo "How far these 25 words go on 500 mails that were kept out:"
echo "\$ fsstream evaluate spam.fss data/spam_test.tsv.gz"
fsstream evaluate "$folder/spam.fss" data/spam_test.tsv.gz
