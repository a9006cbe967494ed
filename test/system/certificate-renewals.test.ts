import { X509Certificate } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TLSSocket } from "node:tls";
import { selfSignedCertificate } from "@millwright/emulators/server";
import { systemClock } from "@millwright/base";
import { createApiClient, loadKubeConfig } from "@millwright/kube";
import { describe, expect, it, onTestFinished } from "vitest";
import { type CertificateChain, createCertificateChain } from "../harness/certificate-chain.ts";
import { createKubectl, type ForeignTool } from "../harness/foreign-tools.ts";
import { base64, kubeconfigOf } from "../harness/kubeconfig.ts";
import { mountSecret, type MountedSecret } from "../harness/mounted-secret.ts";

/** What a server presents, and what its clients have to trust for it. */
interface Authority {
  readonly key: string;
  readonly presented: string;
  readonly trusted: string;
}

const trusting = async (part: "root" | "intermediate"): Promise<Authority> => {
  const chain = await createCertificateChain();
  return { ...chain, trusted: chain[part] };
};
const selfSigned = async (): Promise<Authority> => {
  const { key, cert } = selfSignedCertificate(systemClock.now());
  return { key, presented: cert, trusted: cert };
};

/** By name: how the authority of the server is made, and where the kubeconfig has it. */
const authorities = {
  "CA inline": { make: () => trusting("root"), isInline: true },
  "CA file": { make: () => trusting("root"), isInline: false },
  "intermediate authority": { make: () => trusting("intermediate"), isInline: false },
  "self-signed certificate": { make: selfSigned, isInline: false },
} as const;

/** What a client proves who it is with. */
interface Identity {
  readonly token: string;
  readonly certificate: CertificateChain;
}

/** By name: the user of the kubeconfig, by paths of the files beside it. */
const users = {
  "token file": () => ({ tokenFile: "token" }),
  "certificate files": () => ({ "client-certificate": "tls.crt", "client-key": "tls.key" }),
  exec: (secret: MountedSecret) => ({
    exec: {
      apiVersion: "client.authentication.k8s.io/v1",
      command: "cat",
      args: [secret.pathOf("credential")],
      interactiveMode: "Never",
    },
  }),
} as const;

const renewals = ["renewed in place", "swapped by a link", "of a renewed authority"] as const;

/** An API server that knows one client. */
async function startServer(authority: Authority, client: Identity) {
  const current = { client };
  const printOf = ({ certificate }: Identity): string => new X509Certificate(certificate.server).fingerprint256;
  const server = createServer(
    { key: authority.key, cert: authority.presented, requestCert: true, rejectUnauthorized: false },
    ({ socket, headers }, response) => {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a server with TLS has no other sockets
      const { fingerprint256 } = (socket as TLSSocket).getPeerCertificate();
      const { client: known } = current;
      const isKnown = headers.authorization === `Bearer ${known.token}` || fingerprint256 === printOf(known);
      response.statusCode = isKnown ? 200 : 401;
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify({ client: known.token }));
    },
  ).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    renew(other: Authority, otherClient: Identity) {
      server.setSecureContext({ key: other.key, cert: other.presented });
      // As when it is restarted.
      server.closeAllConnections();
      current.client = otherClient;
    },
  };
}

const cases = Object.entries(authorities).flatMap(([authority, { make, isInline }]) =>
  Object.entries(users).flatMap(([user, userOf]) =>
    renewals.map((renewal) => ({ authority, make, isInline, user, userOf, renewal })),
  ),
);

/** A new kubectl reads all files; our client is there before the renewal, and must do as it does. */
describe("a client that runs while files of its kubeconfig are renewed", () => {
  it.each(cases)(
    "connects as a new kubectl does: $authority, $user, $renewal",
    async ({ make, isInline, userOf, renewal }) => {
      const folder = await mkdtemp(join(tmpdir(), "millwright-renewals-"));
      onTestFinished(() => rm(folder, { recursive: true, force: true }));
      const [before, after, ...certificates] = await Promise.all([
        make(),
        make(),
        createCertificateChain(),
        createCertificateChain(),
      ]);
      const [first, second] = certificates.map((certificate, index) => ({ token: `token-${index}`, certificate }));
      if (first === undefined || second === undefined) throw new Error("no identities");
      const server = await startServer(before, first);

      const filesOf = (authority: Authority, { token, certificate }: Identity, secret?: MountedSecret) => ({
        config: JSON.stringify(
          kubeconfigOf(
            {
              server: server.url,
              ...(isInline
                ? { "certificate-authority-data": base64(authority.trusted) }
                : { "certificate-authority": "ca.crt" }),
            },
            secret === undefined ? {} : userOf(secret),
          ),
        ),
        "ca.crt": authority.trusted,
        token,
        "tls.crt": certificate.presented,
        "tls.key": certificate.key,
        credential: JSON.stringify({
          apiVersion: "client.authentication.k8s.io/v1",
          kind: "ExecCredential",
          status: { token },
        }),
      });
      const secret = await mountSecret(folder, filesOf(before, first));
      await secret.overwrite(filesOf(before, first, secret));

      let nowMs = 0;
      const config = await loadKubeConfig(
        { file: secret.pathOf("config") },
        { clock: { monotonicMs: () => (nowMs += 1_000) } },
      );
      const api = createApiClient(config);
      onTestFinished(() => api.close());
      const kubectl: ForeignTool = await createKubectl(secret.pathOf("config"));
      const outcomes = async () => {
        const { code, stdout } = await kubectl.attempt(["get", "--raw", "/version"]);
        const ours = await api.request({ method: "GET", path: "/version" }).then(
          ({ body }) => body,
          () => "refused",
        );
        return { theirs: code === 0 ? (JSON.parse(stdout) as unknown) : "refused", ours };
      };

      expect(await outcomes()).toEqual({ theirs: { client: "token-0" }, ours: { client: "token-0" } });
      const renewed = renewal === "of a renewed authority" ? after : before;
      server.renew(renewed, second);
      expect(await outcomes()).toEqual({ theirs: "refused", ours: "refused" });
      const files = filesOf(renewed, second, secret);
      await (renewal === "renewed in place" ? secret.overwrite(files) : secret.replace(files));
      expect(await outcomes()).toEqual({ theirs: { client: "token-1" }, ours: { client: "token-1" } });
    },
  );
});
