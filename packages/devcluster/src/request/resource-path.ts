/** The parts of a Kubernetes API path. */
export interface ResourceRequest {
  readonly group: string;
  readonly version: string;
  readonly namespace: string | undefined;
  readonly plural: string;
  readonly name: string | undefined;
  readonly subresource: string | undefined;
}

/** Subresources of namespaces; every other third segment after a namespace is a resource. */
const namespaceSubresources = new Set(["status", "finalize"]);

/**
 * Parses `/api/v1/…` and `/apis/GROUP/VERSION/…` paths with the rules of kube-apiserver's RequestInfo; undefined for other paths
 * and for segments that cannot be decoded.
 */
export function readResourcePath(pathname: string): ResourceRequest | undefined {
  const segments: string[] = [];
  for (const segment of pathname.split("/")) {
    if (segment === "") continue;
    const decoded = decode(segment);
    if (decoded === undefined) return undefined;
    segments.push(decoded);
  }
  const [root, ...afterRoot] = segments;
  if (root === "api") {
    const [version, ...rest] = afterRoot;
    return version === undefined ? undefined : readResource("", version, rest);
  }
  if (root !== "apis") return undefined;
  const [group, version, ...rest] = afterRoot;
  return group === undefined || version === undefined ? undefined : readResource(group, version, rest);
}

function readResource(group: string, version: string, rest: readonly string[]): ResourceRequest | undefined {
  const [first, second, third, ...more] = rest;
  if (first === undefined) return undefined;
  const insideNamespace =
    first === "namespaces" && second !== undefined && third !== undefined && !namespaceSubresources.has(third);
  const [plural, name, subresource, ...tooMuch] = insideNamespace ? [third, ...more] : rest;
  if (plural === undefined || tooMuch.length > 0) return undefined;
  return { group, version, namespace: insideNamespace ? second : undefined, plural, name, subresource };
}

function decode(segment: string): string | undefined {
  try {
    return decodeURIComponent(segment);
  } catch {
    return undefined;
  }
}
