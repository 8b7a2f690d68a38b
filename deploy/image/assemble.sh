#!/bin/sh
# Puts into a folder what the image holds of holdfast. Run it at the top of a checkout whose dependencies are installed.
set -eu
out=$1
mkdir -p "$out/deploy/image" "$out/deploy/ci/shell"
node scripts/build.ts "$out/dist"
cp -R bin package.json LICENSE "$out"
cp deploy/image/holdfast deploy/image/healthcheck.js "$out/deploy/image"
cp deploy/ci/shell/holdfast-ci "$out/deploy/ci/shell"
