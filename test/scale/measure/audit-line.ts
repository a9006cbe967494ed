import type { RequestCount } from "./request-counts.ts";

/**
 * What kube-apiserver records with {@link auditFlags}: each request once, without bodies. A watch is recorded when its response starts, everything else when
 * it is answered. The format is that of https://kubernetes.io/docs/tasks/debug/debug-cluster/audit/.
 */
export const auditPolicy = {
  apiVersion: "audit.k8s.io/v1",
  kind: "Policy",
  omitStages: ["RequestReceived", "Panic"],
  rules: [
    { level: "None", nonResourceURLs: ["*"] },
    { level: "Metadata", verbs: ["watch"], omitStages: ["ResponseComplete"] },
    { level: "Metadata", omitStages: ["ResponseStarted"] },
  ],
} as const;

/** Flags of kube-apiserver: the policy's file and the log's. */
export const auditFlags = (policy: string, log: string): readonly string[] => [
  `--audit-policy-file=${policy}`,
  `--audit-log-path=${log}`,
  // One file, whatever its size.
  "--audit-log-maxsize=100000",
];

interface AuditEvent {
  readonly verb?: string;
  readonly userAgent?: string;
  readonly objectRef?: { readonly resource?: string; readonly subresource?: string };
}

/** The request of a line of an audit log. Throws for a line that is not JSON. */
export function requestOfAuditLine(line: string): Pick<RequestCount, "agent" | "verb" | "resource"> {
  const { verb = "", userAgent = "", objectRef = {} }: AuditEvent = JSON.parse(line);
  const { resource = "", subresource } = objectRef;
  return { agent: userAgent, verb, resource: subresource === undefined ? resource : `${resource}/${subresource}` };
}
