# SPDX-License-Identifier: MIT
"""A headless Chromium, controlled by chromedriver's WebDriver protocol, and a web server for pages
that records the requested paths."""

import base64
import http.server
import json
import os
import re
import shutil
import subprocess
import tempfile
import threading
import urllib.request

import tap

ELEMENT = 'element-6066-11e4-a52e-4f735466cecf'


class Browser:
    def __enter__(self):
        programs = shutil.which('chromium'), shutil.which('chromedriver')
        if None in programs:
            tap.skip_all('chromium and chromium-driver are not installed')
        self.folder = tempfile.mkdtemp(prefix='fm')
        self.driver = subprocess.Popen([programs[1], '--port=0'], stdin=subprocess.DEVNULL,
                                       stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                                       env={**os.environ, 'HOME': self.folder})
        for line in self.driver.stdout:
            found = re.search(r'started successfully on port (\d+)', line)
            if found:
                break
        else:
            raise RuntimeError('chromedriver did not start')
        self.base = f'http://127.0.0.1:{found[1]}/session'
        arguments = ['--headless=new', '--disable-gpu', '--disable-dev-shm-usage', '--hide-scrollbars',
                     f'--user-data-dir={self.folder}/profile']
        if os.getuid() == 0:
            arguments.append('--no-sandbox')
        session = self._ask('POST', '', dict(capabilities=dict(alwaysMatch={
            'goog:chromeOptions': dict(binary=programs[0], args=arguments),
            'goog:loggingPrefs': dict(browser='ALL', performance='ALL')})))
        self.base += '/' + session['sessionId']
        return self

    def __exit__(self, *_):
        try:
            self._ask('DELETE', '')
        finally:
            self.driver.terminate()
            self.driver.wait(30)
            shutil.rmtree(self.folder, ignore_errors=True)

    def _ask(self, method, path, body=None):
        request = urllib.request.Request(self.base + path, method=method,
                                         data=None if body is None else json.dumps(body).encode())
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return json.load(answer)['value']
        except urllib.error.HTTPError as error:
            raise RuntimeError(error.read().decode()) from error

    def devtools(self, command, **parameters):
        return self._ask('POST', '/goog/cdp/execute', dict(cmd=command, params=parameters))

    def window(self, width, height=900):
        self.devtools('Emulation.setDeviceMetricsOverride', width=width, height=height,
                      deviceScaleFactor=1, mobile=width < 500)

    def prefers(self, scheme):
        self.devtools('Emulation.setEmulatedMedia',
                      features=[dict(name='prefers-color-scheme', value=scheme)])

    def open(self, url):
        self._ask('POST', '/url', dict(url=url))

    def run(self, script, *arguments):
        """Returns the value of a script."""
        return self._ask('POST', '/execute/sync', dict(script=script, args=list(arguments)))

    def wait_for(self, script, *arguments):
        """Waits up to five seconds until a script's value is true.  Returns the last value."""
        return self._ask('POST', '/execute/async', dict(args=[script, list(arguments)], script='''
            const [script, given, done] = arguments;
            const look = new Function(script);
            const end = Date.now() + 5000;
            (function again() {
                const value = look(...given);
                if (value || Date.now() > end)
                    done(value);
                else
                    setTimeout(again, 20);
            })();'''))

    def _find(self, css):
        return self._ask('POST', '/element', {'using': 'css selector', 'value': css})[ELEMENT]

    def click(self, css):
        """Clicks as a mouse does: an element on top gets the click."""
        self._ask('POST', f'/element/{self._find(css)}/click', {})

    def type(self, css, text):
        element = self._find(css)
        self._ask('POST', f'/element/{element}/clear', {})
        self._ask('POST', f'/element/{element}/value', dict(text=text))

    def press(self, key):
        """Presses a key, such as \\ue007, in the focused element."""
        self._ask('POST', '/actions', dict(actions=[dict(type='key', id='keys', actions=[
            dict(type='keyDown', value=key), dict(type='keyUp', value=key)])]))

    def console(self):
        """Returns the messages on the console since the last call."""
        return [entry['message'] for entry in self._ask('POST', '/se/log', dict(type='browser'))]

    def requests(self):
        """Returns the addresses that were requested since the last call."""
        events = [json.loads(entry['message'])['message']
                  for entry in self._ask('POST', '/se/log', dict(type='performance'))]
        return [event['params']['request']['url'] for event in events
                if event['method'] == 'Network.requestWillBeSent']

    def picture(self):
        """Returns the whole page as PNG."""
        return base64.b64decode(self.devtools('Page.captureScreenshot', format='png',
                                              captureBeyondViewport=True)['data'])


class Pages:
    """Serves the files of a folder.  `asked` has the requested paths."""

    def __init__(self, folder):
        asked = self.asked = []

        class Handler(http.server.SimpleHTTPRequestHandler):
            def __init__(self, *arguments):
                super().__init__(*arguments, directory=folder)

            def end_headers(self):
                # A file that is written twice in a second has the same date.
                self.send_header('Cache-Control', 'no-store')
                super().end_headers()

            def log_request(self, *_):
                asked.append(self.path)

        self.server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler)
        self.url = f'http://127.0.0.1:{self.server.server_port}/'

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()
