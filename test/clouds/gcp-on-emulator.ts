import { createGcpDriver } from "@millwright/provider-gcp";

/** The driver of GCP at the address in `GCE_EMULATOR`: unlike AWS's, Google's SDK has no variable for that. */
export default createGcpDriver({ endpoint: process.env["GCE_EMULATOR"] ?? "http://127.0.0.1:9" });
