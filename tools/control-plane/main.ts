import { readCommandLine } from "../command-line.ts";
import { builtBinary } from "./build-binary.ts";
import { isCannotBuildError } from "./cannot-build-error.ts";
import { findBinary } from "./find-binary.ts";
import { startControlPlane } from "./start-control-plane.ts";

/** Programs that are built by themselves. */
const singles = [
  "outside-driver",
  "openstack-driver",
  "otel-collector",
  "health-readers",
  "flux-apply",
  "argo-diff",
  "kwok",
  "mcm-specs",
] as const;

const usage = `usage: npm run control-plane -- build [${singles.join(" | ")}] | start [--controllers NAME,…]

build  finds or builds etcd, kube-apiserver, kube-controller-manager and a Go MCM, or only a driver of MCM that drivers/go serves (that of the simulated cloud, or of OpenStack), an OpenTelemetry Collector, what judges objects as GitOps tools do or applies them as Flux does, kwok, or MCM's integration specs, and prints where they are
start  runs them until it is interrupted and prints the path of a kubeconfig
`;

const onBuild = (program: string, version: string): void =>
  console.error(`building ${program} ${version} with Go: takes some minutes, once`);

const single = (name: string | undefined) => singles.find((each) => each === name);

/** Runs the command; resolves with its exit code. */
async function main(args: readonly string[]): Promise<number> {
  const options = { controllers: { type: "string" } } as const;
  const { positionals, values } = readCommandLine({ usage, options, positionals: [1, 2] }, args);
  switch (positionals[0]) {
    case "build": {
      const alone = single(positionals[1]);
      if (alone !== undefined) {
        console.log(await builtBinary(alone, { onBuild }));
        return 0;
      }
      for (const program of ["etcd", "kube-apiserver", "kube-controller-manager"] as const) {
        console.log(await findBinary(program, { onBuild }));
      }
      for (const program of ["machine-controller-manager", "machine-controller"] as const) {
        console.log(await builtBinary(program, { onBuild }));
      }
      return 0;
    }
    case "start": {
      const interrupted = new AbortController();
      for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => interrupted.abort());
      const controllers = values.controllers?.split(",") ?? [];
      const plane = await startControlPlane({ controllers, onBuild, signal: interrupted.signal });
      console.log(`export KUBECONFIG=${plane.kubeconfig}`);
      await new Promise((resolve) => {
        if (interrupted.signal.aborted) resolve(undefined);
        else interrupted.signal.addEventListener("abort", resolve, { once: true });
      });
      await plane.stop();
      return 0;
    }
    case undefined:
    default:
      console.error(usage);
      return 2;
  }
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  if (!isCannotBuildError(error)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
