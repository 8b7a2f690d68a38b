# Build with: docker build -t holdfast .
FROM node:24-bookworm-slim AS build
WORKDIR /src
COPY package.json package-lock.json .npmrc ./
COPY test/clients/package.json test/clients/
# The sources that `prepare` needs are not there yet; the build does what it would do.
RUN npm ci --omit=optional --ignore-scripts
COPY . .
RUN npm run build

FROM node:24-bookworm-slim
RUN apt-get update && apt-get install -y --no-install-recommends ca-certificates git openssh-client \
  && rm -rf /var/lib/apt/lists/*
WORKDIR /opt/holdfast
COPY --from=build /src/package.json /src/LICENSE ./
COPY --from=build /src/bin bin
COPY --from=build /src/dist dist
# A repository is mounted at /source, state lives on a volume at /state; nothing runs as root.
RUN mkdir /source /state && chown node:node /state && ln -s /opt/holdfast/bin/holdfast.js /usr/local/bin/holdfast
USER node
WORKDIR /source
ENV HOLDFAST_STATE=/state NODE_ENV=production
VOLUME /state
ENTRYPOINT ["holdfast"]
CMD ["watch"]
