# A static binary and nothing else: no base image, no shell. Build it first:
#   make build
FROM scratch
COPY bin/quorate bin/quorate-guard bin/quorate-guard-reader /
USER 65532:65532
ENTRYPOINT ["/quorate"]
