#!/bin/bash -eu
# Builds all fuzz targets, and packs the inputs to begin with.
cd "$SRC/repertoire"
cargo fuzz build -O
for target in $(cargo fuzz list); do
    cp "fuzz/target/x86_64-unknown-linux-gnu/release/$target" "$OUT/"
    if [ -d "fuzz/seeds/$target" ]; then
        zip -jq "$OUT/${target}_seed_corpus.zip" fuzz/seeds/"$target"/*
    fi
done
