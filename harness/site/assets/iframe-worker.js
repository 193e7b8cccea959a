// Lets the search of the site run when its pages are opened from disk. Browsers start no worker from a file: address, so a
// worker is a hidden frame there: its script runs in the frame, and messages go both ways as events. A page that comes
// from a server keeps the workers of the browser. A script in the frame finds this page's class by the name
// IFrameWorker, and takes that as a hint that addresses are relative to its script.
"use strict";
if (location.protocol === "file:") {
  window.IFrameWorker = class extends EventTarget {
    constructor(address) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      frame.title = "search worker";
      document.body.append(frame);
      this.ready = new Promise((resolve, reject) => {
        const inner = frame.contentWindow;
        inner.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
        inner.importScripts = (...names) => Promise.all(names.map((name) => IFrameWorker.load(inner, name)));
        IFrameWorker.load(inner, address).then(() => resolve(inner), reject);
      });
      this.terminate = () => frame.remove();
    }

    static load(inner, address) {
      return new Promise((resolve, reject) => {
        const script = inner.document.createElement("script");
        script.src = address;
        script.onload = resolve;
        script.onerror = () => reject(new Error(`cannot load ${address}`));
        inner.document.head.append(script);
      });
    }

    postMessage(data) {
      this.ready.then((inner) => inner.dispatchEvent(new inner.MessageEvent("message", { data })));
    }
  };
  window.Worker = window.IFrameWorker;
}
