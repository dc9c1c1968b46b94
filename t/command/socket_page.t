#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
# needs: sqlite
"""Tests that the examples in doc/socket.md work, with another path of the socket."""

import json
import os
import pwd
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import answering
import tap
from place import NOW, Place

ME = pwd.getpwuid(os.getuid()).pw_name
PAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'doc', 'socket.md')


def needs(program):
    if shutil.which(program):
        return True
    ci = os.environ.get('CI') == 'true'
    tap.ok(not ci, f'{program} runs an example' + ('' if ci else f' # SKIP needs {program}'))
    return False


def body():
    with open(PAGE, encoding='utf-8') as file:
        page = file.read()
    with Place() as place:
        place.ready(f"""
cluster tiny
root/
  physics/ 60
    {ME}  10 use 300
    anna  10 use 100
""")
        place.succeed('run', '--now', NOW)
        if not os.getuid():
            service = pwd.getpwnam(answering.SERVICE)
            for name in os.listdir(place.folder):
                os.chown(place.path(name), service.pw_uid, service.pw_gid)
            os.chown(place.folder, service.pw_uid, service.pw_gid)
            answering.program.FAIRMILL = shutil.copy(answering.program.FAIRMILL, place.path('fairmill'))
        page = page.replace('/run/fairmill/socket', place.path('socket'))
        # Without options, socat waits only half a second.
        with answering.Answering(place, before=['sh', '-c', 'sleep 1; exec "$@"', 'sh']):
            if needs('socat'):
                command = re.search(r"^    \$ (printf .*\n.*)\n", page, re.M)[1]
                out = subprocess.run(['bash', '-c', command], stdout=subprocess.PIPE, check=True).stdout
                answer = json.loads(out or b'{"status": "no answer"}')
                rows = json.loads(answer['output'])['clusters'][0]['associations'] if answer['status'] == 0 else []
                tap.ok([row['username'] for row in rows if row['username']] == ['anna'],
                       'a request by socat is answered even if it takes long', answer)
            if needs('erb'):
                widget = re.search(r'```erb\n(.*?)```', page, re.S)[1]
                with open(place.path('widget.erb'), 'w', encoding='utf-8') as file:
                    file.write(widget)
                out = subprocess.run(['erb', place.path('widget.erb')], stdout=subprocess.PIPE, check=True).stdout.decode()
                tap.ok(re.search(r'<td>physics</td><td>300</td><td>0\.5</td>', out), 'the widget shows its user', out)
                with open(place.path('widget.erb'), 'w', encoding='utf-8') as file:
                    file.write(widget.replace("'--users', user", "'--users', '<nobody>'"))
                out = subprocess.run(['erb', place.path('widget.erb')], stdout=subprocess.PIPE, check=True).stdout.decode()
                tap.ok('<p>' in out and '&lt;nobody&gt;' in out, 'the widget shows errors', out)


tap.main(body)
