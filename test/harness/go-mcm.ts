import { hostname } from "node:os";
import { type ApiClient, type ApiObject, isNotFound, leaseResource } from "@millwright/kube";
import { builtBinary } from "../../tools/control-plane/build-binary.ts";
import { freePorts } from "../../tools/control-plane/free-port.ts";
import { type Program, startProgram } from "./program.ts";

/** MCM's two programs; each has a Lease of its name. */
export const goPrograms = ["machine-controller-manager", "machine-controller"] as const;

/** One of {@link goPrograms}. */
export type GoProgram = (typeof goPrograms)[number];

/**
 * Starts a program of MCM on the machines of a cluster; the first start builds it.
 *
 * @param flags more flags of the program
 * @param targetKubeconfig of the cluster that the VMs join; default: the same one
 * @param namespace of the machines; default: `default`
 */
export async function startGoProgram(
  program: GoProgram,
  kubeconfig: string,
  flags: readonly string[],
  targetKubeconfig: string = kubeconfig,
  namespace = "default",
): Promise<Program> {
  const path = await builtBinary(program, {
    onBuild: (name, version) => console.log(`building ${name} ${version} with Go: takes some minutes, once`),
  });
  const [port = 0] = await freePorts(1);
  const clusters = [
    `--control-kubeconfig=${kubeconfig}`,
    `--target-kubeconfig=${targetKubeconfig}`,
    `--namespace=${namespace}`,
  ];
  return startProgram(program, path, [...clusters, "--address=127.0.0.1", `--port=${port}`, ...flags]);
}

type Lease = ApiObject & { readonly spec?: { readonly holderIdentity?: string } };

/** Who holds the Leases of MCM's two programs. */
export type Holder = "Go" | "Millwright" | "none";

/** The holders of the two Leases, in the order of {@link goPrograms}. A Go process on this host is known by the host's name, Millwright adds a random part. */
export const leaseHolders = (api: Pick<ApiClient, "get">, namespace = "default"): Promise<readonly Holder[]> =>
  Promise.all(
    goPrograms.map(async (name) => {
      try {
        const { spec } = await api.get<Lease>(leaseResource, { namespace, name });
        const holder = spec?.holderIdentity ?? "";
        return holder === "" ? "none" : holder === hostname() ? "Go" : "Millwright";
      } catch (error) {
        if (isNotFound(error)) return "none";
        throw error;
      }
    }),
  );
