#!/usr/bin/env bash
# Builds the functions, starts LocalStack and deploys infra/template.yaml to it. Needs docker with compose.
#
# NOT RUN in this project's tests, which have no docker. What was checked: the compose file as YAML, and the deployment
# against the embedded emulator (ENDPOINT=http://127.0.0.1:PORT NO_START=1). End LocalStack with
# `docker compose -f infra/localstack/compose.yaml down`.
set -euo pipefail
cd "$(dirname "$0")/../.."

endpoint=${ENDPOINT:-http://127.0.0.1:4566}
case "$(uname -m)" in
  aarch64 | arm64) architecture=arm64 arch=--arm64 ;;
  *) architecture=x86_64 arch=--x86-64 ;;
esac

# One build of the workspace, where `sam build` would build it once for each function.
[[ -n "${NO_BUILD:-}" ]] || make build-release "ARCH=$arch"
if [[ -z "${NO_START:-}" ]]; then
  docker compose -f infra/localstack/compose.yaml up --detach --wait --wait-timeout 180
fi

# The same template with each function's folder replaced by its zip, which is all that `sam build` changes.
python3 infra/local/bootstrap.py sam
mkdir -p .aws-sam
sed 's#CodeUri: \.\./functions/\(.*\)#CodeUri: ../target/lambda/\1/bootstrap.zip#' infra/template.yaml >.aws-sam/template.yaml

# Keys and a region that mean nothing: no profile of the user is looked at, and no other endpoint is spoken to.
unset AWS_PROFILE AWS_SESSION_TOKEN
export AWS_ENDPOINT_URL=$endpoint AWS_REGION=us-east-1 AWS_DEFAULT_REGION=us-east-1 SAM_CLI_TELEMETRY=0 \
  AWS_ACCESS_KEY_ID=test AWS_SECRET_ACCESS_KEY=test AWS_CONFIG_FILE=/dev/null AWS_SHARED_CREDENTIALS_FILE=/dev/null
.local/sam/bin/sam deploy --template .aws-sam/template.yaml --stack-name oncebox --resolve-s3 \
  --capabilities CAPABILITY_IAM --no-confirm-changeset --no-fail-on-empty-changeset \
  --parameter-overrides "Architecture=$architecture"
