import { readFileSync } from "node:fs";
import { defineConfig } from "vitepress";
import { anchorOf } from "../../docs/markdown-links.ts";

/** Written by tools/site/main.ts. */
const { sidebar, versions, repository } = JSON.parse(readFileSync(new URL("site.json", import.meta.url), "utf8"));

export default defineConfig({
  title: "Millwright",
  description: "A machine controller manager for Kubernetes",
  srcDir: ".pages",
  outDir: "dist",
  cleanUrls: true,
  // Mermaid is one chunk, which only pages with a diagram load.
  vite: { build: { chunkSizeWarningLimit: 4_000 } },
  markdown: {
    theme: { light: "github-light-high-contrast", dark: "github-dark-high-contrast" },
    anchor: { slugify: anchorOf },
    config(md) {
      // A page is a template of Vue, and double braces in a text are no expression.
      for (const rule of ["text", "code_inline"] as const) {
        const render = md.renderer.rules[rule];
        md.renderer.rules[rule] = (...all) => (render?.(...all) ?? "").replaceAll("{{", "&#123;&#123;");
      }
      const fence = md.renderer.rules.fence;
      md.renderer.rules.fence = (tokens, index, options, env, self) => {
        const { info = "", content = "" } = tokens[index] ?? {};
        if (info.trim() !== "mermaid") return fence?.(tokens, index, options, env, self) ?? "";
        return `<Diagram source="${encodeURIComponent(content)}" />`;
      };
    },
  },
  themeConfig: {
    sidebar,
    nav: [{ text: "Documentation", link: "/contents" }, { text: "Try it", link: "/#what-you-see" }, versions],
    search: { provider: "local" },
    outline: [2, 3],
    socialLinks: [{ icon: "github", link: repository }],
  },
});
