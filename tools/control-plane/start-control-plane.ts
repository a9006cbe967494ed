import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { BuildOptions } from "./build-binary.ts";
import { createCredentials, type Credentials } from "./credentials.ts";
import { findBinary } from "./find-binary.ts";
import { freePorts } from "./free-port.ts";
import { kubeconfigText } from "./kubeconfig.ts";
import { startSupervised, type SupervisedProcess } from "./supervised-process.ts";
import { answersOk, waitUntilReady } from "./wait-until-ready.ts";

/** How to start a control plane. */
export interface ControlPlaneOptions extends BuildOptions {
  /** The controllers that kube-controller-manager runs besides; without any it is not started. Default none. */
  readonly controllers?: readonly string[];
  /** Bearer tokens of users without groups, by the name of the user. Default none. */
  readonly tokens?: Readonly<Record<string, string>>;
  /** More flags of kube-apiserver. */
  readonly apiServerFlags?: readonly string[];
}

/** A running kube-apiserver with its etcd, on loopback, with data that end with it. */
export interface ControlPlane {
  readonly url: string;
  /** PEM of the certificates that the server's own is to be trusted by. */
  readonly ca: string;
  /** The bearer token of an administrator. */
  readonly token: string;
  /** Path of a kubeconfig with the contexts `token` and, where openssl could make one, `certificate`. */
  readonly kubeconfig: string;
  /** Copies the data of etcd while it and kube-apiserver are stopped, and starts them again. Returns the backup's folder, which ends with the control plane. */
  backup(): Promise<string>;
  /** Stops etcd and kube-apiserver, and starts them with the data of a backup, as an administrator does after a loss. */
  restore(backup: string): Promise<void>;
  /** Stops all programs and removes their data. Safe to call twice. */
  stop(): Promise<void>;
}

/**
 * Starts etcd and kube-apiserver (RBAC on, service accounts not required of pods) and resolves when it is ready. The programs
 * end with this process, however it ends. Throws a CannotBuildError when there are none and they cannot be built.
 */
export async function startControlPlane(options: ControlPlaneOptions = {}): Promise<ControlPlane> {
  const controllers = options.controllers ?? [];
  const etcd = await findBinary("etcd", options);
  const apiServer = await findBinary("kube-apiserver", options);
  const manager = controllers.length === 0 ? undefined : await findBinary("kube-controller-manager", options);
  const folder = await mkdtemp(join(tmpdir(), "millwright-control-plane-"));
  /** By name, in the order of their first start. */
  const running = new Map<string, SupervisedProcess>();
  let stopping: Promise<void> | undefined;
  const stop = (): Promise<void> => {
    stopping ??= (async () => {
      // The last one first: a server whose storage has gone spends its last seconds on waiting for it.
      for (const process of [...running.values()].toReversed()) await process.stop();
      await rm(folder, { recursive: true, force: true });
    })();
    return stopping;
  };
  const start = (name: string, path: string, args: readonly string[]): SupervisedProcess => {
    const process = startSupervised(path, args, join(folder, `${name}.log`));
    running.set(name, process);
    return process;
  };
  try {
    const [clientPort = 0, peerPort = 0, securePort = 0, managerPort = 0] = await freePorts(4);
    const etcdUrl = `http://127.0.0.1:${clientPort}`;
    const runEtcd = async (): Promise<void> => {
      const storage = start("etcd", etcd, etcdFlags(folder, etcdUrl, `http://127.0.0.1:${peerPort}`));
      await waitUntilReady(storage, () => answersOk(`${etcdUrl}/health`), "etcd", options.signal);
    };
    await runEtcd();

    const credentials = await createCredentials(folder, options.tokens);
    const certificates = join(folder, "certificates");
    await mkdir(certificates, { mode: 0o700 });
    const flags = apiServerFlags(credentials, certificates, etcdUrl, securePort);
    const url = `https://127.0.0.1:${securePort}`;
    const token = credentials.adminToken;
    const caFile = join(certificates, "apiserver.crt");
    const isReady = async (): Promise<boolean> => {
      const ca = await readFile(caFile, "utf8");
      // The namespace `default` is made by the server itself, a moment after it calls itself ready.
      return (
        (await answersOk(`${url}/readyz`, { ca, token })) &&
        answersOk(`${url}/api/v1/namespaces/default`, { ca, token })
      );
    };
    const runServer = async (): Promise<void> => {
      const server = start("kube-apiserver", apiServer, [...flags, ...(options.apiServerFlags ?? [])]);
      await waitUntilReady(server, isReady, "kube-apiserver", options.signal);
    };
    await runServer();
    const ca = await readFile(caFile, "utf8");
    const kubeconfig = join(folder, "kubeconfig");
    await writeFile(kubeconfig, kubeconfigText(url, ca, token, credentials.client), { mode: 0o600 });
    /** Does something with the data of etcd while nothing uses them. */
    const whileStopped = async (run: (data: string) => Promise<void>): Promise<void> => {
      for (const name of ["kube-apiserver", "etcd"]) await running.get(name)?.stop();
      await run(join(folder, "etcd"));
      await runEtcd();
      await runServer();
    };
    const backup = async (): Promise<string> => {
      const copy = await mkdtemp(join(folder, "backup-"));
      await whileStopped((data) => cp(data, copy, { recursive: true }));
      return copy;
    };
    const restore = (copy: string): Promise<void> =>
      whileStopped(async (data) => {
        await rm(data, { recursive: true, force: true });
        await cp(copy, data, { recursive: true });
      });

    if (manager !== undefined) {
      const flags = managerFlags(kubeconfig, controllers, managerPort, join(folder, "manager-certificates"));
      const process = start("kube-controller-manager", manager, flags);
      const health = `https://127.0.0.1:${managerPort}/healthz`;
      const managerCa = join(folder, "manager-certificates", "kube-controller-manager.crt");
      const isHealthy = async (): Promise<boolean> => answersOk(health, { ca: await readFile(managerCa, "utf8") });
      await waitUntilReady(process, isHealthy, "kube-controller-manager", options.signal);
    }
    return { url, ca, token, kubeconfig, backup, restore, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

function etcdFlags(folder: string, clientUrl: string, peerUrl: string): readonly string[] {
  return [
    `--data-dir=${join(folder, "etcd")}`,
    `--listen-client-urls=${clientUrl}`,
    `--advertise-client-urls=${clientUrl}`,
    `--listen-peer-urls=${peerUrl}`,
    `--initial-advertise-peer-urls=${peerUrl}`,
    `--initial-cluster=default=${peerUrl}`,
    // The data end with the test, so nothing has to reach the disk.
    "--unsafe-no-fsync",
    "--log-level=warn",
  ];
}

function apiServerFlags(credentials: Credentials, certificates: string, etcd: string, port: number): readonly string[] {
  const { client, tokenFile, serviceAccountKey, serviceAccountPublicKey } = credentials;
  return [
    `--etcd-servers=${etcd}`,
    "--bind-address=127.0.0.1",
    "--advertise-address=127.0.0.1",
    "--endpoint-reconciler-type=none",
    `--secure-port=${port}`,
    `--cert-dir=${certificates}`,
    `--token-auth-file=${tokenFile}`,
    ...(client === undefined ? [] : [`--client-ca-file=${client.authorityFile}`]),
    "--authorization-mode=RBAC",
    "--service-account-issuer=https://kubernetes.default.svc",
    `--service-account-key-file=${serviceAccountPublicKey}`,
    `--service-account-signing-key-file=${serviceAccountKey}`,
    "--service-cluster-ip-range=10.0.0.0/24",
    "--disable-admission-plugins=ServiceAccount",
    "--allow-privileged=true",
    "--profiling=false",
    // Tests send many requests at once from one place.
    "--enable-priority-and-fairness=false",
  ];
}

function managerFlags(
  kubeconfig: string,
  controllers: readonly string[],
  port: number,
  certificates: string,
): readonly string[] {
  return [
    `--kubeconfig=${kubeconfig}`,
    `--authentication-kubeconfig=${kubeconfig}`,
    `--authorization-kubeconfig=${kubeconfig}`,
    `--controllers=${controllers.join(",")}`,
    "--leader-elect=false",
    "--bind-address=127.0.0.1",
    `--secure-port=${port}`,
    `--cert-dir=${certificates}`,
    "--profiling=false",
  ];
}
