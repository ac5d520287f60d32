# The program in an image: `docker build --tag repertoire .`, or that of a release, whose workflow says `FROM=released`.
ARG FROM=built

FROM rust:1.89-slim AS built
RUN apt-get update && apt-get install --yes --no-install-recommends gcc libc6-dev
COPY . /src
RUN cargo install --locked --path /src/crates/cli --features full --root /usr/local

# The binaries of a release, unpacked by architecture.
FROM scratch AS released
ARG TARGETARCH
COPY dist/${TARGETARCH}/repertoire /usr/local/bin/repertoire

FROM ${FROM} AS program

FROM debian:trixie-slim AS repertoire
# `git` and `ssh` fetch skills; `curl` asks for the health of a server.
RUN apt-get update \
    && apt-get install --yes --no-install-recommends ca-certificates curl git openssh-client \
    && rm -rf /var/lib/apt/lists/*
ENV HOME=/tmp
COPY --from=program /usr/local/bin/repertoire /usr/local/bin/repertoire
USER nobody
ENTRYPOINT ["repertoire"]
