#!/usr/bin/env bash
# Builds the functions, starts LocalStack and deploys infra/template.yaml to it. Needs docker with compose.
#
# Not run by this project's tests, which have no docker: the compose file has been read by a YAML parser, and this
# script has deployed to the embedded emulator (ENDPOINT=... NO_START=1). End it with
# `docker compose -f infra/localstack/compose.yaml down`.
set -euo pipefail
cd "$(dirname "$0")/../.."

endpoint=${ENDPOINT:-http://127.0.0.1:4566}
case "$(uname -m)" in
  aarch64 | arm64) architecture=arm64 ;;
  *) architecture=x86_64 ;;
esac

python3 infra/local/bootstrap.py sam zig
export PATH="$PWD/.local/zig/bin:$PATH" SAM_CLI_TELEMETRY=0
# Keys and a region that mean nothing: no profile of the user is looked at, and no other endpoint is spoken to.
unset AWS_PROFILE AWS_SESSION_TOKEN
export AWS_ENDPOINT_URL=$endpoint AWS_REGION=us-east-1 AWS_DEFAULT_REGION=us-east-1 \
  AWS_ACCESS_KEY_ID=test AWS_SECRET_ACCESS_KEY=test AWS_CONFIG_FILE=/dev/null AWS_SHARED_CREDENTIALS_FILE=/dev/null

if [[ -z "${NO_START:-}" ]]; then
  docker compose -f infra/localstack/compose.yaml up --detach --wait --wait-timeout 180
fi

# --beta-features: sam knows cargo-lambda only behind it.
.local/sam/bin/sam build --beta-features --template infra/template.yaml --build-dir .aws-sam/build \
  --parameter-overrides "Architecture=$architecture"
.local/sam/bin/sam deploy --template .aws-sam/build/template.yaml --stack-name oncebox --resolve-s3 \
  --capabilities CAPABILITY_IAM --no-confirm-changeset --no-fail-on-empty-changeset \
  --parameter-overrides "Architecture=$architecture"
