/** Key of the merged class secret that holds the user data. Mandatory. Read by the creation flow. Source: MCM, `pkg/util/provider/machinecontroller/userdata.go`. */
export const userDataKey = "userData";

/** Places in the user data that are replaced before the driver sees it, plain or query-escaped. Source: MCM, `pkg/util/provider/machinecontroller/userdata.go`. */
export const userDataPlaceholders = {
  bootstrapToken: "<<BOOTSTRAP_TOKEN>>",
  machineName: "<<MACHINE_NAME>>",
} as const;

/** Whether a text has a placeholder, plain or query-escaped. */
export const containsPlaceholder = (text: string, placeholder: string): boolean =>
  text.includes(placeholder) || text.includes(encodeURIComponent(placeholder));

/** Wire facts of a kubelet's bootstrap token, read by kube-apiserver and its token cleaner. Source: MCM, `pkg/util/provider/machinecontroller/userdata.go`. */
export const bootstrapToken = {
  namespace: "kube-system",
  secretType: "bootstrap.kubernetes.io/token",
  secretNamePrefix: "bootstrap-token-",
} as const;
