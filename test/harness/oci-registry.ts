import { createHash } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";

/** A registry of images and charts on loopback, without authentication. Source: https://github.com/opencontainers/distribution-spec/blob/main/spec.md, "Push". */
export interface OciRegistry {
  /** `127.0.0.1:PORT`. */
  readonly host: string;
  /** Digests of the manifests that were pushed, by `REPOSITORY:TAG`. */
  readonly manifests: ReadonlyMap<string, string>;
  close(): Promise<void>;
}

const digestOf = (content: Buffer): string => `sha256:${createHash("sha256").update(content).digest("hex")}`;

/** What was pushed: a blob, or a manifest with its type. */
interface Stored {
  readonly content: Buffer;
  readonly type: string;
}

/** Starts a registry. */
export async function startOciRegistry(): Promise<OciRegistry> {
  const stored = new Map<string, Stored>();
  const manifests = new Map<string, string>();
  const server = createServer((request, response) => {
    const put = (kind: string, tag: string, expected: string | null, content: Buffer): number => {
      const digest = digestOf(content);
      if (kind === "manifests") manifests.set(tag, digest);
      else if (digest !== expected) return 400;
      stored.set(digest, { content, type: request.headers["content-type"] ?? "application/octet-stream" });
      response.setHeader("docker-content-digest", digest);
      return 201;
    };
    const answer = async (): Promise<void> => {
      const { pathname, searchParams } = new URL(request.url ?? "", "http://registry");
      const [, repository = "", kind = "", name = ""] = /^\/v2\/(.+)\/(blobs|manifests)\/(.+)$/.exec(pathname) ?? [];
      const content = await buffer(request);
      const tag = `${repository}:${name}`;
      if (request.method === "POST") response.writeHead(202, { location: `/v2/${repository}/blobs/uploads/1` }).end();
      else if (request.method === "PUT")
        response.writeHead(put(kind, tag, searchParams.get("digest"), content), { location: pathname }).end();
      else {
        const digest = manifests.get(tag) ?? name;
        const found = stored.get(digest);
        if (found === undefined) response.writeHead(pathname === "/v2/" ? 200 : 404).end();
        else
          response
            .writeHead(200, {
              "content-type": found.type,
              "content-length": found.content.length,
              "docker-content-digest": digest,
            })
            .end(request.method === "HEAD" ? undefined : found.content);
      }
    };
    answer().catch((error: unknown) => response.destroy(error instanceof Error ? error : undefined));
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  // It listens on TCP.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const { port } = server.address() as AddressInfo;
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return { host: `127.0.0.1:${port}`, manifests, close };
}
