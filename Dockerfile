# Build with: docker build -t holdfast --build-arg REVISION=$(git rev-parse HEAD) .
# The digest pins the base for every architecture; the tag says what it is.
ARG NODE=node:24-alpine@sha256:d32cdf619f63fe0471182d08996dd516c6275bb5fd31ae06e55a570bd9e1ad43

FROM ${NODE} AS build
WORKDIR /src
COPY package.json package-lock.json .npmrc ./
COPY scripts/checkout/package.json scripts/checkout/
COPY test/clients/package.json test/clients/
# The binaries of esbuild and rolldown are optional dependencies. `prepare` needs sources that are not copied yet; the next step does its work.
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY . .
# The image's own node: node_modules has one that is linked with glibc.
ARG REVISION
RUN /usr/local/bin/node scripts/generate.ts && REVISION=$REVISION PATH=/usr/local/bin:$PATH sh deploy/image/assemble.sh /out

FROM ${NODE} AS root
RUN apk add --no-cache ca-certificates git openssh-client-default tini \
  && rm -rf /usr/local/lib/node_modules /usr/local/include /usr/local/share /opt/yarn-* /root/.npm /tmp/* \
  && find /usr/local/bin -mindepth 1 ! -name node -delete \
  # Root's group owns the state: a user of any number is in it where nothing else is said.
  && mkdir -m 0770 /state && mkdir /source
COPY --from=build /out /opt/holdfast
RUN ln -s /opt/holdfast/deploy/image/holdfast /usr/local/bin/holdfast

# One layer, so that what was removed above takes no room.
FROM scratch
COPY --from=root / /
ARG VERSION=0.1.0
ARG REVISION=unknown
LABEL org.opencontainers.image.title="Holdfast" \
  org.opencontainers.image.description="Keeps an ML-platform control plane equal to the manifests in a git repository" \
  org.opencontainers.image.licenses="Apache-2.0" \
  org.opencontainers.image.version="${VERSION}" \
  org.opencontainers.image.revision="${REVISION}"
ENV PATH=/usr/local/bin:/usr/bin:/bin HOME=/state TMPDIR=/state HOLDFAST_STATE=/state NODE_ENV=production
# A repository is mounted at /source; nothing but /state is written to. /state is no VOLUME: an engine would give each
# container an anonymous one, and the one-time tokens in it would be lost with the container.
WORKDIR /source
USER 10001:0
# Kubernetes has probes of its own; this is for other engines, and needs no curl.
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s CMD ["node", "/opt/holdfast/deploy/image/healthcheck.js"]
# An init as the first process collects what git leaves behind, and passes signals on.
ENTRYPOINT ["/sbin/tini", "--", "holdfast"]
CMD ["watch"]
