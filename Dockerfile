# One image for both programs: task-server, and mock-authority for those who have no tenant.
#
#   docker build --tag localhost/task-server .
#
# DEBIAN=trixie takes Debian 13 in place of 12; what is built on 12 runs on both. The two bases are arguments as well, so that a
# mirror, or a base of one's own, can take their place.
ARG DEBIAN=bookworm
ARG SWIFT_IMAGE=docker.io/library/swift:6.3-bookworm
ARG DEBIAN_IMAGE=docker.io/library/debian:${DEBIAN}-slim

FROM ${SWIFT_IMAGE} AS build
WORKDIR /source
# The packages before the sources: an edit does not install them again.
COPY scripts/install scripts/
RUN scripts/install build
COPY scripts/build scripts/touch-importers scripts/
COPY Package.swift ./
COPY Sources Sources
# Only because Package.swift names their folders; none is built.
COPY Tests Tests
RUN scripts/build release \
    && strip --strip-all -o /usr/local/bin/task-server .build/release/task-server \
    && strip --strip-all -o /usr/local/bin/mock-authority .build/release/mock-authority

FROM ${DEBIAN_IMAGE}
RUN apt-get update --quiet=2 \
    && DEBIAN_FRONTEND=noninteractive apt-get install --quiet=2 --yes --no-install-recommends \
        ca-certificates libcurl4 libgnutls30 libmicrohttpd12 libpq5 libsqlite3-0 libssl3 zlib1g \
    && apt-get clean \
    && rm -rf /var/lib/apt/lists/* /var/cache/debconf/*-old /var/lib/dpkg/*-old /var/log/*.log /var/log/apt \
    && groupadd --gid 10001 tasks \
    && useradd --uid 10001 --gid tasks --home-dir /data --shell /usr/sbin/nologin --no-log-init --comment "" tasks \
    && install --directory --owner tasks --group tasks --mode 0700 /data
COPY --from=build /usr/local/bin/task-server /usr/local/bin/mock-authority /usr/local/bin/
COPY Public /usr/share/task-server/Public

LABEL org.opencontainers.image.title="task-server" \
    org.opencontainers.image.version="1.0.0" \
    org.opencontainers.image.description="Tasks over HTTP for the holders of Azure AD B2C tokens; and mock-authority, a stand-in for B2C" \
    org.opencontainers.image.licenses="MIT"

# Everything else is the container's to set; `task-server --help` lists it. The database stays unset, since
# TASKS_DATABASE_FILE may name it: without either it is tasks.db in the working directory.
ENV TASKS_LISTEN=[::]:3000 \
    TASKS_PUBLIC=/usr/share/task-server/Public \
    TASKS_LOG_FORMAT=json
# A number, since Kubernetes cannot tell from a name that it is not root.
USER 10001:10001
WORKDIR /data
EXPOSE 3000 3001
STOPSIGNAL SIGTERM
# Alive, not ready: what kills unhealthy containers must not do so because the authority is out of reach. The program that runs is
# asked, with its flags; below an init or a shell whichever answers.
HEALTHCHECK --interval=10s --timeout=5s --start-period=10s --retries=3 CMD ["sh", "-c", "xargs -0 sh -c 'case $0 in *task-server | *mock-authority) exec \"$0\" \"$@\" health ;; *) task-server health || mock-authority health ;; esac' </proc/1/cmdline"]
CMD ["task-server"]
