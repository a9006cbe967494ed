import type { IncomingMessage } from "node:http";
import * as z from "zod";

/** What `npm publish` sends: the manifest, and the tarball. */
const publicationSchema = z.object({
  name: z.string(),
  "dist-tags": z.record(z.string(), z.string()),
  versions: z.record(z.string(), z.looseObject({ dist: z.looseObject({ tarball: z.url() }) })),
  _attachments: z.record(z.string(), z.object({ data: z.base64() })),
});

/** A package, as a registry describes it. */
interface Packument {
  readonly name: string;
  readonly "dist-tags": Readonly<Record<string, string>>;
  readonly versions: Readonly<Record<string, object>>;
}

/** What may be published. */
export interface PublicationRules {
  /** A publication without this token is refused. */
  readonly token: string;
  /** Whether a publication fails as one does when the registry breaks. Default: none. */
  readonly breaksOn?: (name: string) => boolean;
}

/** Packages that were published to a registry of this machine. Nothing leaves the process. */
export interface Publications {
  /** Publishes what a request has; resolves with the status of the response. */
  publish(request: IncomingMessage): Promise<number>;
  /** The description of a package that was published. */
  packument(name: string): Packument | undefined;
  /** A tarball, by the decoded path of its URL. */
  tarball(path: string): Buffer | undefined;
  /** `name@version`, in the order in which they were published. */
  list(): readonly string[];
}

/** Makes a place for publications. A version is published once. */
export function createPublications({ token, breaksOn = () => false }: PublicationRules): Publications {
  const packuments = new Map<string, Packument>();
  const tarballs = new Map<string, Buffer>();
  const published: string[] = [];
  return {
    async publish(request) {
      if (request.headers.authorization !== `Bearer ${token}`) return 401;
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(Buffer.from(chunk));
      const publication = publicationSchema.parse(JSON.parse(Buffer.concat(chunks).toString("utf8")));
      const { name, versions, _attachments: attachments } = publication;
      if (breaksOn(name)) return 500;
      const known = packuments.get(name);
      const [[version, manifest] = []] = Object.entries(versions);
      const [file] = Object.values(attachments);
      if (version === undefined || manifest === undefined || file === undefined) return 400;
      if (known?.versions[version] !== undefined) return 403;
      packuments.set(name, {
        name,
        "dist-tags": { ...known?.["dist-tags"], ...publication["dist-tags"] },
        versions: { ...known?.versions, ...versions },
      });
      tarballs.set(decodeURIComponent(new URL(manifest.dist.tarball).pathname), Buffer.from(file.data, "base64"));
      published.push(`${name}@${version}`);
      return 201;
    },
    packument: (name) => packuments.get(name),
    tarball: (path) => tarballs.get(path),
    list: () => published,
  };
}
