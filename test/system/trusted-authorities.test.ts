import { once } from "node:events";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { machineResource } from "@millwright/core/machine-api";
import { createApiClient, loadKubeConfig } from "@millwright/kube";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type CertificateChain, createCertificateChain } from "../harness/certificate-chain.ts";
import { base64, kubeconfigOf } from "../harness/kubeconfig.ts";
import { startMillwright } from "../harness/millwright.ts";
import { createKubectl, type ForeignTool } from "../harness/foreign-tools.ts";

/** A bundle of authorities beside kubectl: each certificate in it is trusted, also one that another authority has signed. */
describe("an API server whose certificate an intermediate authority has signed", () => {
  let folder = "";
  let chain: CertificateChain;
  let other: CertificateChain;
  let server: Server;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "millwright-authorities-"));
    [chain, other] = await Promise.all([createCertificateChain(), createCertificateChain()]);
    server = createServer({ key: chain.key, cert: chain.presented }, (_, response) => {
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify({ kind: "List", apiVersion: "v1", metadata: { resourceVersion: "1" }, items: [] }));
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
  });
  afterAll(async () => {
    server.closeAllConnections();
    server.close();
    await rm(folder, { recursive: true, force: true });
  });

  const kubeconfigWith = async (bundle: string): Promise<string> => {
    const { port } = server.address() as AddressInfo;
    const file = join(folder, "kubeconfig");
    const cluster = { server: `https://127.0.0.1:${port}`, "certificate-authority-data": base64(bundle) };
    await writeFile(file, JSON.stringify(kubeconfigOf(cluster, { token: "t" })));
    return file;
  };
  const isTrustedByKubectl = async (file: string): Promise<boolean> => {
    const kubectl: ForeignTool = await createKubectl(file);
    return kubectl(["get", "--raw", "/version"]).then(
      () => true,
      () => false,
    );
  };
  const isTrusted = async (file: string): Promise<boolean> => {
    const client = createApiClient(await loadKubeConfig({ file }));
    try {
      await client.list(machineResource, { namespace: "default" });
      return true;
    } catch {
      return false;
    } finally {
      await client.close();
    }
  };

  it("that is not trusted is reported with the entry to change, and no flags of Node", async () => {
    const file = await kubeconfigWith(other.root);
    const client = createApiClient(await loadKubeConfig({ file }));
    const failure = await client.list(machineResource, { namespace: "default" }).catch(String);
    await client.close();
    expect(failure).toContain(`no authority of certificate-authority of cluster "c" in kubeconfig ${file} has signed`);
    expect(failure).not.toContain("--use-system-ca");
  });

  it.each([
    ["SSL_CERT_FILE", true],
    ["SSL_CERT_DIR", true],
    ["no variable", false],
  ])("is trusted without a bundle as Go trusts it: %s", async (variable, expected) => {
    const file = await kubeconfigWith("");
    const authorities = join(folder, "authorities");
    await mkdir(authorities, { recursive: true });
    await writeFile(join(authorities, "any-name"), chain.intermediate);
    const values = { SSL_CERT_FILE: join(authorities, "any-name"), SSL_CERT_DIR: `/nonexistent:${authorities}` };
    const env = Object.fromEntries(Object.entries(values).filter(([name]) => name === variable));
    const command = startMillwright(["why", "machine/a", `--control-kubeconfig=${file}`], env);
    await command.ended;
    expect(command.output().includes("no authority of the system"), command.output()).toBe(!expected);
    expect(command.output().includes("unreachable"), command.output()).toBe(!expected);
  });

  it.each<[string, (own: CertificateChain, foreign: CertificateChain) => string, boolean]>([
    ["the root", ({ root }) => root, true],
    ["the intermediate one", ({ intermediate }) => intermediate, true],
    ["the server's own certificate", (own) => own.server, true],
    ["others and the intermediate one", (own, foreign) => foreign.root + own.intermediate, true],
    ["only others", (_, foreign) => foreign.root + foreign.intermediate, false],
  ])("is trusted with a bundle of %s as by kubectl", async (_, bundleOf, expected) => {
    const file = await kubeconfigWith(bundleOf(chain, other));
    expect([await isTrustedByKubectl(file), await isTrusted(file)]).toEqual([expected, expected]);
  });
});
