import type { ApiClient } from "@millwright/kube";
import type { Program } from "../../harness/program.ts";

/** A process of the controllers. */
export interface SubjectProgram {
  /** `millwright`, or the name of one of MCM's programs. */
  readonly name: string;
  readonly program: Program;
  /** Where it serves its metrics. */
  readonly metricsUrl: string;
}

/** The controllers that are measured. */
export interface Subject {
  readonly name: "millwright" | "go-mcm" | "floor" | "same-requests";
  /** How they were built, for results. */
  readonly build: string;
  /** User agents of their requests. */
  readonly agents: readonly string[];
  /** Starts one replica, in a namespace: one process, or MCM's two, which are started in `default` only. */
  start(kubeconfig: string, namespace: string): Promise<readonly SubjectProgram[]>;
  /** Whether one replica leads, and acts on what it sees. */
  leads(api: ApiClient, programs: readonly SubjectProgram[]): Promise<boolean>;
}
