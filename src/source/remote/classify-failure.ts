import { SourceError, type SourceReason } from "../source-error.ts";

type Case = { readonly reason: SourceReason; readonly pattern: RegExp; readonly what: string; readonly hint: string };

// English messages of git, curl and ssh; the first case that matches counts.
const cases: readonly Case[] = [
  {
    reason: "HostKeyRefused",
    pattern: /Host key verification failed|REMOTE HOST IDENTIFICATION HAS CHANGED|No .* host key is known/i,
    what: "the host key is not the pinned one",
    hint: "compare it with the provider's published keys, then update the source's knownHosts file",
  },
  {
    reason: "Redirected",
    pattern: /error: 30\d|redirect/i,
    what: "the remote redirects to another address, which is not followed",
    hint: "correct `url` to the address that the repository has now",
  },
  {
    reason: "Unauthorized",
    pattern:
      /Authentication failed|could not read (?:Username|Password)|error: 40[13]|Permission denied|UNPROTECTED PRIVATE KEY|invalid format/i,
    what: "the credentials are refused",
    hint: "check the source's credentials: the files, their rights (0400 for an SSH key) and what they may read",
  },
  {
    reason: "CertificateRefused",
    pattern: /SSL certificate|server certificate|CAfile|certificate verif/i,
    what: "the certificate is not trusted",
    hint: "name the certificate authority with the source's caFile",
  },
  {
    reason: "RepositoryNotFound",
    pattern:
      /not found|does not appear to be a git repository|error: 4(?:04|10)|does not exist|No such file or directory|dubious ownership/i,
    what: "there is no repository that these credentials may read",
    hint: "check the url of the source, and what its credentials may read",
  },
  {
    reason: "RefNotFound",
    pattern: /couldn't find remote ref|not our ref|no such remote ref/i,
    what: "the ref does not exist",
    hint: "check the ref of the source",
  },
  {
    reason: "Unreachable",
    pattern:
      /Could not resolve|Connection refused|timed out|Connection reset|Failed to connect|Couldn't connect|early EOF|unexpected disconnect|hung up|Empty reply|unable to access|error: 5\d\d|Network is unreachable|Connection closed|transfer closed/i,
    what: "the remote cannot be reached",
    hint: "check the network to the remote, and the proxy variables; the fetch is retried",
  },
  {
    reason: "ContentRefused",
    pattern: /fsck|fatal: bad object|did not receive expected object|index-pack failed|inflate|bad pack/i,
    what: "git refuses the objects that the remote sent",
    hint: "check the remote with git fsck",
  },
];

/** The source error for a git command that failed; the message leaves out anything that may be a password. */
export function sourceFailure(source: string, stderr: string): SourceError {
  const found = cases.find(({ pattern }) => pattern.test(stderr));
  const { reason = "FetchFailed", what = "git failed", hint = "the message of git gives the reason" } = found ?? {};
  return new SourceError(reason, `source ${source}: ${what}: ${shownLine(stderr)}`, { hint });
}

// The line with the failure; warnings and progress come before it.
function shownLine(stderr: string): string {
  const lines = stderr.split(/[\r\n]+/).filter((line) => line.trim() !== "");
  const line =
    lines.find((each) => /^(?:fatal|error|ERROR|remote):/.test(each)) ?? lines.at(-1) ?? "git gave no reason";
  return line.replace(/:\/\/[^/@\s]*@/g, "://…@").slice(0, 300);
}
