# SPDX-License-Identifier: MIT
"""Headless browsers, and a web server for pages that records the requested paths.

chromedriver controls Chromium by the WebDriver protocol.  Firefox needs no driver: it is controlled
by Marionette, its own protocol."""

import base64
import http.server
import json
import os
import re
import shutil
import socket
import subprocess
import tempfile
import threading
import urllib.request

import tap

ELEMENT = 'element-6066-11e4-a52e-4f735466cecf'
ENTER, ESCAPE, TAB, DOWN = '\ue007', '\ue00c', '\ue004', '\ue015'

# Calls `done` with the value of a script when it is true, or after five seconds.
WAIT = '''
    const [script, given, done] = arguments;
    const look = new Function(script);
    const end = Date.now() + 5000;
    (function again() {
        const value = look(...given);
        if (value || Date.now() > end)
            done(value);
        else
            setTimeout(again, 20);
    })();'''


class Browser:
    """Chromium."""

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
        arguments = ['--headless=new', '--disable-gpu', '--disable-dev-shm-usage', '--hide-scrollbars', '--force-prefers-reduced-motion',
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

    def prefers(self, scheme, forced=False, media=''):
        """Selects the color scheme, forced colors, and the medium, such as `print`."""
        self.devtools('Emulation.setEmulatedMedia', media=media, features=[
            dict(name='prefers-color-scheme', value=scheme),
            dict(name='forced-colors', value='active' if forced else 'none')])

    def scripts(self, enabled):
        self.devtools('Emulation.setScriptExecutionDisabled', value=not enabled)

    def open(self, url):
        self._ask('POST', '/url', dict(url=url))

    def run(self, script, *arguments):
        """Returns the value of a script."""
        return self._ask('POST', '/execute/sync', dict(script=script, args=list(arguments)))

    def wait_for(self, script, *arguments):
        """Waits up to five seconds until a script's value is true.  Returns the last value."""
        return self.run_async(WAIT, script, list(arguments))

    def run_async(self, script, *arguments):
        """Returns the value with which the script calls its last argument."""
        return self._ask('POST', '/execute/async', dict(script=script, args=list(arguments)))

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


class Firefox:
    """Firefox.  The page is in a frame of a blank page, because a window has at least 500 pixels."""

    def __enter__(self):
        program = shutil.which('firefox-esr') or shutil.which('firefox')
        if not program:
            tap.skip_all('firefox-esr is not installed')
        self.folder = tempfile.mkdtemp(prefix='fm')
        with open(f'{self.folder}/user.js', 'w', encoding='utf-8') as file:
            file.write('user_pref("marionette.port", 0);\nuser_pref("browser.region.network.url", "");\n')
        self.process = subprocess.Popen([program, '--headless', '--marionette', '--no-remote', '--profile', self.folder, 'about:blank'],
                                        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                        env={**os.environ, 'HOME': self.folder})
        port = tap.until(self._port)
        self.count = 0
        self.stream = socket.create_connection(('127.0.0.1', port), timeout=60).makefile('rwb')
        self._receive()
        self._ask('WebDriver:NewSession', capabilities={})
        self._ask('WebDriver:SetWindowRect', width=2700, height=1000)
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(30)
        shutil.rmtree(self.folder, ignore_errors=True)

    def _port(self):
        if self.process.poll() is not None:
            raise RuntimeError('firefox did not start')
        try:
            with open(f'{self.folder}/MarionetteActivePort', encoding='utf-8') as file:
                return int(file.read() or 0)
        except FileNotFoundError:
            return 0

    def _receive(self):
        length = b''
        while (byte := self.stream.read(1)) not in (b':', b''):
            length += byte
        return json.loads(self.stream.read(int(length)))

    def _ask(self, command, **parameters):
        self.count += 1
        message = json.dumps([0, self.count, command, parameters]).encode()
        self.stream.write(b'%d:%s' % (len(message), message))
        self.stream.flush()
        _, _, error, value = self._receive()
        if error:
            raise RuntimeError(error)
        return value

    def open(self, url):
        self._ask('WebDriver:SwitchToFrame')
        self._ask('WebDriver:Navigate', url=url.rpartition('/')[0] + '/frame.html')
        self.run(f"document.body.innerHTML = '<iframe width=1400 height=900></iframe>'; document.querySelector('iframe').src = '{url}';")
        self.frame = self._find('iframe')
        self._ask('WebDriver:SwitchToFrame', element=self.frame)
        tap.until(lambda: self._is_loaded(url))

    def _is_loaded(self, url):
        try:
            return self.run('return location.href === arguments[0] && document.readyState === "complete"', url)
        except RuntimeError:  # the frame changes its document
            return False

    def window(self, width, height=900):
        self._ask('WebDriver:SwitchToFrame')
        self.run(f"const frame = document.querySelector('iframe'); frame.width = {width}; frame.height = {height};")
        self._ask('WebDriver:SwitchToFrame', element=self.frame)

    def run(self, script, *arguments):
        return self._ask('WebDriver:ExecuteScript', script=script, args=list(arguments))['value']

    def wait_for(self, script, *arguments):
        return self._ask('WebDriver:ExecuteAsyncScript', script=WAIT, args=[script, list(arguments)])['value']

    def _find(self, css):
        return self._ask('WebDriver:FindElement', using='css selector', value=css)['value'][ELEMENT]

    def click(self, css):
        self._ask('WebDriver:ElementClick', id=self._find(css))

    def type(self, css, text):
        self._ask('WebDriver:ElementSendKeys', id=self._find(css), text=text)


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

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler)
        self.url = f'http://127.0.0.1:{self.server.server_port}/'

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()
