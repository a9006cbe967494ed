import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { kubeconfigFor } from "@millwright/devcluster";
import type { ApiClient } from "@millwright/kube";
import * as z from "zod";
import { type Program, startProgram } from "../program.ts";
import { getImage, inRoot } from "./image-store.ts";

const container = z.object({
  name: z.string(),
  image: z.string(),
  args: z.array(z.string()).optional(),
  env: z.array(z.object({ name: z.string(), value: z.string().default("") })).default([]),
  ports: z.array(z.object({ name: z.string(), containerPort: z.number() })).default([]),
  volumeMounts: z.array(z.object({ name: z.string(), mountPath: z.string() })).default([]),
  readinessProbe: z.object({ httpGet: z.object({ path: z.string(), port: z.string() }) }).optional(),
});
type Container = z.infer<typeof container>;

/** What is read of a Pod. */
export const podSchema = z.object({
  metadata: z.object({
    name: z.string(),
    namespace: z.string(),
    uid: z.string(),
    deletionTimestamp: z.string().optional(),
  }),
  spec: z.object({
    serviceAccountName: z.string().default("default"),
    containers: z.array(container),
    volumes: z.array(z.object({ name: z.string() })).default([]),
  }),
});
/** A Pod. */
export type Pod = z.infer<typeof podSchema>;

/** What pods get from their node. */
export interface NodeOptions {
  readonly api: ApiClient;
  /** Address and authority of the API server. */
  readonly server: { readonly url: string; readonly ca: string };
  /** Store of the images that it pulls. */
  readonly images: string;
  /** Programs that base images have, by name. */
  readonly programs: Readonly<Record<string, string>>;
}

/** A pod whose containers run. */
export interface RunningPod {
  /** Its own address, on loopback. */
  readonly ip: string;
  /** By container. */
  readonly programs: ReadonlyMap<string, Program>;
}

/** Paths that exist in a container only if a volume is mounted there: its root cannot be written, and has nothing of this computer. */
const needsVolume = /(?:^|[=:/])(\/(?:tmp|run|var|etc\/millwright)\/\S*)/;

/** Writes the credential of a pod, in place of the configuration in the cluster: that is at a fixed path. */
async function writeKubeconfig({ metadata, spec }: Pod, { api, server }: NodeOptions, folder: string): Promise<void> {
  const { name, namespace, uid } = metadata;
  const path = `/api/v1/namespaces/${namespace}/serviceaccounts/${spec.serviceAccountName}/token`;
  const boundObjectRef = { apiVersion: "v1", kind: "Pod", name, uid };
  const { body } = await api.request({ method: "POST", path, body: { spec: { audiences: [], boundObjectRef } } });
  const { status } = z.object({ status: z.object({ token: z.string() }) }).parse(body);
  const text = kubeconfigFor(server.url, { certificateAuthority: server.ca, token: status.token });
  await writeFile(join(folder, "kubeconfig"), text);
}

/** Whether a container has the credential of its pod. */
const hasToken = ({ volumeMounts }: Container): boolean => volumeMounts.some(({ name }) => name === "token");

/** Starts the program of an image with arguments and environment of a container, whose volumes are folders in `folder`. */
async function startContainer(
  { name, image, args, env, volumeMounts }: Container,
  { images, programs }: NodeOptions,
  folder: string,
  more: readonly string[],
): Promise<Program> {
  const { root, entrypoint, command, env: ofImage } = await getImage(images, image);
  const here = (text: string): string => {
    const [, path] = needsVolume.exec(text) ?? [];
    if (path === undefined) return text;
    const mount = volumeMounts.find(({ mountPath }) => `${path}/`.startsWith(`${mountPath}/`));
    if (mount === undefined) throw new Error(`container ${name} has no volume for ${path}`);
    return text.replace(mount.mountPath, join(folder, mount.name));
  };
  const variables = { ...ofImage, ...Object.fromEntries(env.map((each) => [each.name, each.value])) };
  const expand = (text: string): string =>
    text.replaceAll(/\$\((\w+)\)/g, (all, variable: string) => variables[variable] ?? all);
  const [program = "", ...words] = entrypoint.map((word) => inRoot(root, word));
  const given = (args ?? command).map((arg) =>
    here(expand(arg)).replace("inClusterConfig", join(folder, "token/kubeconfig")),
  );
  const tmp = volumeMounts.find(({ mountPath }) => mountPath === "/tmp");
  return startProgram(`${name} ${given.join(" ")}`, programs[program] ?? program, [...words, ...given, ...more], {
    NODE_OPTIONS: "",
    ...(tmp === undefined ? {} : { TMPDIR: join(folder, tmp.name) }),
    ...Object.fromEntries(Object.entries(variables).map(([key, value]) => [key, here(value)])),
  });
}

/** Starts the containers of a pod. Paths of volumes are replaced by those in `folder`, which is made; instead of a network of its own it has an address of loopback. */
export async function startPod(pod: Pod, node: NodeOptions, folder: string, ip: string): Promise<RunningPod> {
  await mkdir(folder);
  for (const { name } of pod.spec.volumes) await mkdir(join(folder, name), { mode: 0o700 });
  if (pod.spec.containers.some(hasToken)) await writeKubeconfig(pod, node, join(folder, "token"));
  const programs = new Map<string, Program>();
  for (const each of pod.spec.containers)
    programs.set(each.name, await startContainer(each, node, folder, hasToken(each) ? [`--address=${ip}`] : []));
  return { ip, programs };
}

/** Whether all containers run, and those with a readiness probe pass it. */
export async function isPodReady({ spec }: Pod, { ip, programs }: RunningPod): Promise<boolean> {
  for (const { name, readinessProbe, ports } of spec.containers) {
    if (programs.get(name)?.child.exitCode !== null) return false;
    if (readinessProbe === undefined) continue;
    const { path, port } = readinessProbe.httpGet;
    const number = ports.find((each) => each.name === port)?.containerPort;
    const response = await fetch(`http://${ip}:${number}${path}`).catch(() => undefined);
    if (response?.ok !== true) return false;
  }
  return true;
}
