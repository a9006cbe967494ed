import { isPair } from "@millwright/base/tls";
import type { TlsMaterial } from "./cluster-config.ts";
import type { FollowedFile } from "./followed-file.ts";

/** The files among the TLS material of a cluster. */
export interface TlsFiles {
  readonly ca?: FollowedFile | undefined;
  readonly cert?: FollowedFile | undefined;
  readonly key?: FollowedFile | undefined;
}

/**
 * TLS material that follows its files. Returns the same object while nothing changed; a new object means that
 * connections must be recreated. While a certificate and a key do not match (one is written after the other), the
 * former pair stays in use.
 *
 * @param fixed material without a file
 */
export function followTls(fixed: TlsMaterial, files: TlsFiles): () => TlsMaterial {
  let current: TlsMaterial = fixed;
  return () => {
    const {
      ca = fixed.ca,
      cert = fixed.cert,
      key = fixed.key,
    } = {
      ca: files.ca?.(),
      cert: files.cert?.(),
      key: files.key?.(),
    };
    const isNewPair = cert !== current.cert || key !== current.key;
    if (ca === current.ca && !isNewPair) return current;
    const pair = isNewPair && belongTogether(cert, key) ? { cert, key } : { cert: current.cert, key: current.key };
    if (ca === current.ca && pair.cert === current.cert && pair.key === current.key) return current;
    current = {
      ...fixed,
      ...(ca === undefined ? {} : { ca }),
      ...(pair.cert === undefined ? {} : { cert: pair.cert }),
      ...(pair.key === undefined ? {} : { key: pair.key }),
    };
    return current;
  };
}

function belongTogether(cert: TlsMaterial["cert"], key: TlsMaterial["key"]): boolean {
  if (cert === undefined || key === undefined) return cert === key;
  try {
    return isPair(cert, key);
  } catch {
    return false;
  }
}
