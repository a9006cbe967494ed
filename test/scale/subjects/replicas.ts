import { systemClock } from "@millwright/base";
import type { ApiClient } from "@millwright/kube";
import type { Subject, SubjectProgram } from "./subject.ts";

/** How often is checked whether a process leads, milliseconds. */
const CHECK_MS = 50;

/** The processes of the controllers on a cluster. */
export interface Replicas {
  /** Those that run. */
  readonly programs: readonly SubjectProgram[];
  /** Starts one replica, in namespace `default` or another one; resolves before it leads. */
  start(namespace?: string): Promise<readonly SubjectProgram[]>;
  untilLeading(signal: AbortSignal): Promise<void>;
  /** Throws with the output of a process that ended by itself. */
  requireRunning(): void;
  /** The process that leads. Only Millwright's are known by their output. */
  leader(): SubjectProgram | undefined;
  kill(program: SubjectProgram): Promise<void>;
  /** Ends all by a signal. */
  end(signal: NodeJS.Signals): Promise<void>;
}

/** No process runs yet. */
export function createReplicas(subject: Subject, kubeconfig: string, api: ApiClient): Replicas {
  const programs: SubjectProgram[] = [];
  const remove = (program: SubjectProgram): void => void programs.splice(programs.indexOf(program), 1);
  return {
    programs,
    async start(namespace = "default") {
      const started = await subject.start(kubeconfig, namespace);
      programs.push(...started);
      return started;
    },
    async untilLeading(signal: AbortSignal) {
      while (!(await subject.leads(api, programs))) {
        this.requireRunning();
        await systemClock.sleep(CHECK_MS, signal);
      }
    },
    requireRunning() {
      const ended = programs.find(({ program: { child } }) => child.exitCode !== null || child.signalCode !== null);
      if (ended !== undefined) throw new Error(`${ended.name} ended:\n${ended.program.output().slice(-2000)}`);
    },
    leader: () => programs.find(({ program }) => program.output().includes('"Leading"')),
    async kill(program: SubjectProgram) {
      remove(program);
      await program.program.stop("SIGKILL");
    },
    async end(signal: NodeJS.Signals) {
      await Promise.all(programs.splice(0).map(({ program }) => program.stop(signal)));
    },
  };
}
