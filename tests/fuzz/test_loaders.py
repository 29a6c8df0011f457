"""Files with a right digest and a changed inside: refused with a message, or read; never a traceback."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from fsstream import run
from fsstream.archive import pack, unpack
from fsstream.checkpoint import load_checkpoint
from fsstream.cli.options import read_config
from fsstream.config import ResumeOptions, SelectOptions
from fsstream.errors import FsstreamError
from fsstream.model import parse_model

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from typing import Any

ROWS = b"".join(b"%d w%d:1 w%d:2 s%d:0.5\n" % (i % 2, i % 17, i * i % 13, i % 2) for i in range(60))
CHANGES = 150


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> tuple[bytes, bytes]:
    """A model and a checkpoint."""
    folder = tmp_path_factory.mktemp("fuzzed")
    (folder / "rows").write_bytes(ROWS)
    more: dict[str, Any] = {"k": 3, "algo": "b-arda", "format": "pairs", "quiet": True, "block_size": 500}
    saved = str(folder / "saved")
    options = SelectOptions(inputs=(str(folder / "rows"),), checkpoint=saved, checkpoint_every=1, **more)
    return run.select(options).model.to_bytes(), (folder / "saved").read_bytes()


def changed(value: Any, rng: random.Random) -> Any:
    """The same JSON value with one thing in it changed, left out or of another type."""
    odd = [None, -1, 0, 1.5, 2**70, "", "x", [], {}, [[]], True, "\udcff"]
    if isinstance(value, dict) and value and rng.random() < 0.9:
        key = rng.choice(sorted(value))
        rest = {name: inside for name, inside in value.items() if name != key}
        return rest if rng.random() < 0.15 else {**rest, key: changed(value[key], rng)}
    if isinstance(value, list) and value and rng.random() < 0.8:
        place = rng.randrange(len(value))
        return [*value[:place], changed(value[place], rng), *value[place + 1 :]]
    return rng.choice(odd)


def variants(data: bytes) -> list[bytes]:
    """The archive with a change in its description or in one of its arrays, and a digest that fits."""
    rng = random.Random(5)
    made = []
    for _ in range(CHANGES):
        meta, members = unpack(data, "x")
        if rng.random() < 0.6:
            meta = changed(meta, rng)
            if not isinstance(meta, dict):
                continue
        else:
            name = rng.choice(sorted(members))
            array = members[name]
            way = rng.randrange(4)
            if way == 0:
                del members[name]
            elif way == 1:
                members[name] = array[: len(array) // 2]
            elif way == 2:
                members[name] = array.astype("f8" if array.dtype.kind != "f" else "u8")
            else:
                raw = bytearray(array.tobytes() or b"\0")
                raw[rng.randrange(len(raw))] ^= 1 << rng.randrange(8)
                members[name] = (
                    array if not array.nbytes else type(array)(array.shape, array.dtype, bytes(raw))
                )
        made.append(pack(meta, members))
    return made


def refusals(variants: list[Any], take: Callable[[Any], object]) -> set[int]:
    """The exit codes with which some are refused; anything but an error of ours fails the test."""
    codes = []
    for variant in variants:
        try:
            take(variant)
        except FsstreamError as error:
            codes.append(error.exit_code)
    assert len(codes) > len(variants) // 10
    return set(codes)


def test_models(files: tuple[bytes, bytes]) -> None:
    codes = refusals(variants(files[0]), lambda data: parse_model(data, "model").selection.to_jsonl())
    assert codes == {5}


def test_checkpoints(files: tuple[bytes, bytes], tmp_path: Path) -> None:
    path = tmp_path / "saved"

    def go_on(data: bytes) -> None:
        path.write_bytes(data)
        checkpoint = load_checkpoint(str(path))
        run.resume(checkpoint, checkpoint.resumed(ResumeOptions(checkpoint_file=str(path))))

    assert refusals(variants(files[1]), go_on) <= {1, 2, 3, 4, 5}


def test_configs(tmp_path: Path) -> None:
    rng = random.Random(3)
    text = b'k = 1\nformat = "libsvm"\nseed = 5\ninputs = ["a"]\nmemory = "1GB"\n[set]\nsketch_depth = 1\n'
    path = tmp_path / "c.toml"
    texts = []
    for _ in range(CHANGES):
        made = bytearray(text)
        for _ in range(rng.randint(1, 4)):
            made[rng.randrange(len(made))] = rng.choice(b'\0\xff"=[]\n 1x.-{}')
        texts.append(bytes(made))

    def take(made: bytes) -> None:
        path.write_bytes(made)
        SelectOptions(**read_config(str(path), SelectOptions)).check()

    assert refusals(texts, take) == {2}
