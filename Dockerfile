# One file on nothing else: docker build -t stockade . && docker run --rm -v "$PWD:/work:ro" stockade scan /work
# `exec` and `run` make sandboxes, which most containers may not; `scan`, `skill`, `check` and `serve` need nothing.
FROM rust:1.95-slim-bookworm AS build
RUN apt-get update && apt-get install --yes --no-install-recommends gcc g++ libc6-dev make
WORKDIR /src
COPY . .
RUN cargo static && cargo static-e2b && cargo static-kubernetes

FROM scratch
COPY --from=build /src/target/release/stockade /stockade
# Remote backends are looked for beside the program.
COPY --from=build /src/target/release/stockade-backend-e2b /src/target/release/stockade-backend-kubernetes /
COPY --from=build /src/LICENSE-MIT /src/LICENSE-APACHE /
# Nobody, so that what is scanned is read with no more rights than any user has.
USER 65534:65534
WORKDIR /work
ENTRYPOINT ["/stockade"]
CMD ["--help"]
