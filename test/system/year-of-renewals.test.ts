import { X509Certificate } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TLSSocket } from "node:tls";
import { createApiClient, isApiError, loadKubeConfig } from "@millwright/kube";
import { expect, it, onTestFinished } from "vitest";
import { type CertificateChain, createCertificateChain } from "../harness/certificate-chain.ts";
import { base64, kubeconfigOf } from "../harness/kubeconfig.ts";
import { mountSecret } from "../harness/mounted-secret.ts";

const DAYS = 366;
/** A client certificate is valid for so long; its renewal comes a day after that. */
const CERTIFICATE_DAYS = 90;
/** The authority of the server is replaced on this day; kubeconfigs of the nights around it have both. */
const AUTHORITY_DAY = 180;
/** The kubeconfig is written at this hour of each night. */
const NIGHT = 3;

/** The year of an API server, which accepts tokens of the hour and certificates of the season, and closes connections at night. */
async function startServer(clients: readonly CertificateChain[], authorities: readonly CertificateChain[]) {
  const now = { hour: 0 };
  const prints = clients.map(({ server }) => new X509Certificate(server).fingerprint256);
  const presented = (index: number) => ({ key: authorities[index]?.key, cert: authorities[index]?.presented });
  const server = createServer(
    { ...presented(0), requestCert: true, rejectUnauthorized: false },
    ({ socket, headers }, response) => {
      const day = Math.floor(now.hour / 24);
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a server with TLS has no other sockets
      const season = prints.indexOf((socket as TLSSocket).getPeerCertificate().fingerprint256);
      const isToken = headers.authorization === `Bearer token-${now.hour}`;
      response.statusCode = isToken && season === Math.floor(day / CERTIFICATE_DAYS) ? 200 : 401;
      response.setHeader("content-type", "application/json");
      response.end("{}");
    },
  ).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return {
    now,
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** It presents the certificate of another authority from now on. */
    replaceAuthority() {
      server.setSecureContext(presented(1));
      server.closeAllConnections();
    },
  };
}

it("a client stays connected for a year of renewed tokens, certificates and authorities", async () => {
  const folder = await mkdtemp(join(tmpdir(), "millwright-year-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const seasons = Math.ceil(DAYS / CERTIFICATE_DAYS);
  const clients = await Promise.all(Array.from({ length: seasons }, createCertificateChain));
  const authorities = await Promise.all([createCertificateChain(), createCertificateChain()]);
  const { now, url, replaceAuthority } = await startServer(clients, authorities);

  const kubeconfig = (day: number): string => {
    const { presented = "", key = "" } = clients[Math.floor(Math.max(0, day - 1) / CERTIFICATE_DAYS)] ?? {};
    const trusted = authorities.filter((_, index) =>
      index === 0 ? day <= AUTHORITY_DAY + 10 : day >= AUTHORITY_DAY - 10,
    );
    const cluster = { server: url, "certificate-authority-data": base64(trusted.map(({ root }) => root).join("")) };
    const user = {
      tokenFile: "token",
      "client-certificate-data": base64(presented),
      "client-key-data": base64(key),
    };
    return JSON.stringify(kubeconfigOf(cluster, user));
  };
  let written = kubeconfig(0);
  const secret = await mountSecret(folder, { kubeconfig: written, token: "token-0" });

  const config = await loadKubeConfig(
    { file: secret.pathOf("kubeconfig") },
    { clock: { monotonicMs: () => now.hour * 3_600_000 } },
  );
  const api = createApiClient(config);
  onTestFinished(() => api.close());
  const failed: number[] = [];
  const statuses = new Set<number>();
  for (now.hour = 1; now.hour < DAYS * 24; now.hour++) {
    const day = Math.floor(now.hour / 24);
    if (now.hour === AUTHORITY_DAY * 24) replaceAuthority();
    if (now.hour % 24 === NIGHT) written = kubeconfig(day);
    await secret.replace({ kubeconfig: written, token: `token-${now.hour}` });
    try {
      await api.request({ method: "GET", path: "/version" });
    } catch (error) {
      failed.push(now.hour);
      statuses.add(isApiError(error) ? error.status : 0);
    }
  }
  expect([...statuses]).toEqual([401]);
  // Nothing but what was renewed late: from the end of a season to the night of the next day.
  const gaps = Array.from({ length: seasons - 1 }, (_, index) => (index + 1) * CERTIFICATE_DAYS * 24);
  expect(failed).toEqual(gaps.flatMap((end) => Array.from({ length: 24 + NIGHT }, (_, hour) => end + hour)));
});
